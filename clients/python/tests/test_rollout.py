"""Many episodes over one pair of pipes."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import tempfile
import unittest

from support import SCENARIO, SEED, Served, played, reference, task

from mayday_env import MaydayEnv, Result, RolloutError, Rollouts
from mayday_env.actions import Resolve, Restart, Status, Wait


class Pipes(unittest.IsolatedAsyncioTestCase):
    async def test_the_reference_gets_its_score_and_leaves_a_trajectory(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.jsonl"
            async with Rollouts("--out", str(out)) as rollouts:
                self.assertIn(task(SCENARIO), rollouts.tasks)
                episode = rollouts.episode("mine")
                await episode.reset(task=task(SCENARIO), seed=SEED)
                results = [await episode.step(action) for action in reference(SCENARIO)]
            rewards = [one.reward for one in results]
            self.assertEqual(rewards, played(SCENARIO, "reference")["rewards"])
            (line,) = out.read_text().splitlines()
        kept = json.loads(line)
        self.assertEqual((kept["episode"], kept["seed"]), ("mine", SEED))
        self.assertEqual([step["reward"] for step in kept["steps"]], rewards)
        self.assertEqual(
            [step["action"] for step in kept["steps"]],
            [action.payload() for action in reference(SCENARIO)],
        )

    async def test_what_is_wrong_is_said_and_the_episode_goes_on(self) -> None:
        async with Rollouts() as rollouts:
            episode = rollouts.episode()
            with self.assertRaises(RolloutError) as caught:
                await episode.step(Status())
            self.assertEqual(caught.exception.code, "NO_EPISODE")
            first = await episode.reset(seed=SEED, answer=42)
            self.assertEqual(first.metadata, {"ignored_options": ["answer"]})
            with self.assertRaises(RolloutError) as caught:
                await episode.step(Restart(component="nowhere"))
            self.assertEqual(caught.exception.code, "VALIDATION_ERROR")
            self.assertEqual(caught.exception.errors[0]["loc"], ["data", "component"])
            self.assertEqual((await episode.step(Status())).observation.step, 1)
            self.assertTrue(await episode.close())
            self.assertFalse(await episode.close())

    async def test_a_worker_that_dies_fails_what_waits_for_it(self) -> None:
        rollouts = Rollouts()
        with self.assertRaisesRegex(ConnectionError, "the worker has ended"):
            async with rollouts:
                assert rollouts.pid is not None
                await rollouts.episode().reset(seed=1)
                os.kill(rollouts.pid, signal.SIGKILL)
                while True:
                    await rollouts.episode().reset(seed=1)

    async def test_a_worker_that_cannot_begin_says_so(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "ended with 2"):
            async with Rollouts("--no-such-option"):
                pass


class BothWays(Served):
    async def test_pipes_and_sockets_play_the_same(self) -> None:
        plan = [Status(), Wait(seconds=120), Resolve()]

        async def over_socket(seed: int) -> list[Result]:
            async with MaydayEnv(base_url=self.url) as env:
                return [await env.reset(seed=seed), *[await env.step(one) for one in plan]]

        async with Rollouts() as rollouts:

            async def over_pipes(seed: int) -> list[Result]:
                episode = rollouts.episode()
                first = await episode.reset(seed=seed)
                return [first, *[await episode.step(one) for one in plan]]

            piped = await asyncio.gather(*(over_pipes(seed) for seed in range(16)))
        socketed = await asyncio.gather(*(over_socket(seed) for seed in range(16)))
        for one, other in zip(piped, socketed, strict=True):
            # Sockets carry the remarks once more inside of the observation.
            for result in other:
                result.observation.metadata = {}
                result.metadata = result.metadata or {}
            self.assertEqual(one, other)
