"""The typed client against a real server."""

from __future__ import annotations

import asyncio
import unittest

import pydantic
from openenv import AutoEnv, GenericEnvClient
from support import SCENARIO, SEED, Served, played, reference, task

from mayday_env import MaydayAction, MaydayEnv, Result, list_tasks, parse_action
from mayday_env.actions import AnyAction, Declare, Restart, SetPolicy, Shed, Status, Topology, Wait


class Play(Served):
    async def test_the_reference_gets_its_score(self) -> None:
        async with MaydayEnv(base_url=self.url) as env:
            first = await env.reset(task=task(SCENARIO), seed=SEED, episode_id="mine", prompt="x")
            self.assertEqual(first.metadata, {"ignored_options": ["prompt"]})
            self.assertIsNone(first.reward)
            self.assertTrue(first.observation.firing)
            results = [await env.step(action) for action in reference(SCENARIO)]
            self.assertEqual(
                [one.reward for one in results], played(SCENARIO, "reference")["rewards"]
            )
            last = results[-1]
            self.assertTrue(last.done and last.observation.done)
            self.assertEqual(last.observation.done_reason, "resolved")
            state = await env.state()
            self.assertEqual((state.episode_id, state.seed, state.done), ("mine", SEED, True))
            self.assertEqual(state.step_count, len(results))

    def test_the_same_without_an_event_loop(self) -> None:
        with MaydayEnv(base_url=self.url).sync() as env:
            env.reset(task=task(SCENARIO), seed=SEED)
            rewards = [env.step(action).reward for action in reference(SCENARIO)]
            self.assertEqual(rewards, played(SCENARIO, "reference")["rewards"])

    async def test_it_sees_what_the_untyped_client_sees(self) -> None:
        async with MaydayEnv(base_url=self.url) as env, GenericEnvClient(base_url=self.url) as raw:
            for result, plain in [
                (await env.reset(seed=SEED), await raw.reset(seed=SEED)),
                (await env.step(Topology()), await raw.step({"action": "topology"})),
            ]:
                seen = result.observation.model_dump(exclude={"done", "reward"})
                self.assertEqual(seen, plain.observation)
                self.assertEqual((result.reward, result.done), (plain.reward, plain.done))

    async def test_many_sessions_at_once(self) -> None:
        async def one(seed: int) -> tuple[Result, Result]:
            async with MaydayEnv(base_url=self.url) as env:
                return await env.reset(seed=seed), await env.step(Wait(seconds=60))

        results = await asyncio.gather(*(one(seed) for seed in range(32)))
        for seed in (0, 13, 31):
            self.assertEqual(results[seed], await one(seed))

    async def test_a_wrong_action_changes_nothing(self) -> None:
        async with MaydayEnv(base_url=self.url) as env:
            await env.reset(seed=SEED)
            with self.assertRaisesRegex(RuntimeError, "expected one of"):
                await env.step(Restart(component="nowhere"))
            with self.assertRaisesRegex(RuntimeError, "did you mean `restart`"):
                await env.step(MaydayAction(action="restrat"))
            self.assertEqual((await env.step(Status())).observation.step, 1)

    def test_tasks_can_be_played_as_they_are(self) -> None:
        tasks = list_tasks(self.url, "validation", 3, 6)
        self.assertEqual([one.seed for one in tasks], [1_000_000] * 3)
        self.assertEqual(tasks, list_tasks(self.url, "validation")[3:6])
        with MaydayEnv(base_url=self.url).sync() as env:
            env.reset(**tasks[0].model_dump())
            self.assertEqual(env.state().task, tasks[0].task)


class Actions(unittest.TestCase):
    def test_defaults_are_not_sent_and_words_of_python_are(self) -> None:
        for action, sent in [
            (Status(), {"action": "status"}),
            (Restart(component="shop", group=""), {"action": "restart", "component": "shop"}),
            (
                Declare(cause="network", from_="a", to="b"),
                {"action": "declare", "cause": "network", "from": "a", "to": "b"},
            ),
            (
                Shed(component="a", ratio="5 %", class_="x"),
                {"action": "shed", "component": "a", "ratio": "5 %", "class": "x"},
            ),
            (
                SetPolicy(component="a", retries=0, breaker=False),
                {"action": "set_policy", "component": "a", "retries": 0, "breaker": False},
            ),
            (
                MaydayAction.model_validate({"action": "later", "how": 1}),
                {"action": "later", "how": 1},
            ),
        ]:
            self.assertEqual(action.payload(), sent)

    def test_text_becomes_an_action_or_a_sentence(self) -> None:
        wanted: AnyAction = Wait(seconds=5)
        for text in [
            '{"action": "wait", "seconds": 5}',
            'I will wait.\n```json\n{"action": "wait", "seconds": 5}\n```',
            'a { b } {"action": "wait", "seconds": 5} c',
        ]:
            self.assertEqual(parse_action(text), wanted)
        self.assertEqual(
            parse_action({"action": "declare", "cause": "none", "from": "a"}),
            Declare(cause="none", from_="a"),
        )
        for text, says in [
            ("no object", "no JSON object"),
            ('{"action": "wait"}', "wait.seconds: Field required"),
            ('{"action": "wait", "seconds": 601}', "less than or equal to 600"),
            ('{"action": "wait", "seconds": 5, "more": 1}', "wait.more: Extra inputs"),
            ('{"action": "dance"}', "does not match any of the expected tags"),
            ("{}", "Unable to extract tag"),
        ]:
            with self.assertRaises(ValueError) as caught:
                parse_action(text)
            self.assertIn(says, str(caught.exception))

    def test_arguments_are_checked(self) -> None:
        with self.assertRaises(pydantic.ValidationError):
            Wait(seconds=0)

    def test_openenv_finds_the_package(self) -> None:
        self.assertIs(AutoEnv.get_env_class("mayday"), MaydayEnv)
