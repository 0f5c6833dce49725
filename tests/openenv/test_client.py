"""OpenEnv's GenericEnvClient and MCPToolClient, async and sync."""

import asyncio

from kit import SEED, Served, played, reference, scenarios, secrets
from openenv import GenericAction, GenericEnvClient
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient

WAIT = {"action": "wait", "seconds": 600}


async def play(url, task, seed, plan, always=None):
    """All results of an episode: the plan, then `always` until it is done."""
    async with GenericEnvClient(base_url=url) as env:
        results = [await env.reset(task=task, seed=seed)]
        for action in plan:
            results.append(await env.step(action))
        while always and not results[-1].done:
            results.append(await env.step(always))
        return results


class Play(Served):
    async def test_the_reference_gets_its_score_in_every_scenario(self):
        self.assertGreater(len(scenarios()), 20)

        async def one(name, entry):
            plan = reference(name)
            results = await play(self.server.url, entry["task"], SEED, plan)
            expected = played()[name, "reference"]
            rewards = [result.reward for result in results[1:]]
            self.assertIsNone(results[0].reward)
            self.assertEqual(rewards, expected["rewards"], name)
            self.assertAlmostEqual(sum(rewards), expected["score"], places=9, msg=name)
            last = results[-1]
            self.assertTrue(last.done, name)
            why = {"done_reason": "resolved", "terminated": True, "truncated": False}
            self.assertEqual(last.metadata, why, name)
            self.assertNotIn("reward", last.observation)
            self.assertEqual(last.observation["metadata"], why)

        await asyncio.gather(*(one(name, entry) for name, entry in scenarios().items()))

    async def test_doing_nothing_is_worth_nothing_unless_nothing_is_wrong(self):
        async def one(name, entry):
            results = await play(self.server.url, entry["task"], SEED, [], WAIT)
            score = sum(result.reward for result in results[1:])
            self.assertAlmostEqual(score, 1.0 if entry["healthy"] else 0.0, places=9, msg=name)
            last = results[-1].metadata
            self.assertEqual((last["terminated"], last["truncated"]), (False, True), name)
            self.assertIn(last["done_reason"], ("horizon", "step_limit"))

        await asyncio.gather(*(one(name, entry) for name, entry in scenarios().items()))

    async def test_64_clients_at_once_see_what_each_sees_alone(self):
        tasks = [entry["task"] for entry in scenarios().values()]
        look = [{"action": "status"}, {"action": "wait", "seconds": 60}, {"action": "resolve"}]

        async def one(at):
            task, seed = tasks[at % len(tasks)], 1000 + at
            results = await play(self.server.url, task, seed, look)
            return [(result.observation, result.reward, result.done) for result in results]

        together = await asyncio.gather(*(one(at) for at in range(64)))
        for at in range(0, 64, 7):
            self.assertEqual(together[at], await one(at), at)
        seen = {str(results) for results in together}
        self.assertEqual(len(seen), 64, "every seed is a world of its own")

    async def test_nothing_that_is_read_tells_what_is_true(self):
        reads = [{"action": "status"}, {"action": "topology"}, {"action": "changes", "minutes": 60}]
        reads += [{"action": "traces", "minutes": 30}, {"action": "resolve"}]

        async def one(name, entry):
            seen = str(await play(self.server.url, entry["task"], SEED, reads))
            for secret in filter(None, secrets(name)):
                self.assertNotIn(secret, seen, name)

        await asyncio.gather(*(one(name, entry) for name, entry in scenarios().items()))

    def test_the_synchronous_client_and_the_state(self):
        name = "overload/retry-storm"
        with GenericEnvClient(base_url=self.server.url).sync() as env:
            self.assertIsNone(env.state()["episode_id"])
            first = env.reset(seed=SEED, task=scenarios()[name]["task"], episode_id="mine", prompt="x")
            self.assertEqual(first.metadata, {"ignored_options": ["prompt"]})
            for action in reference(name):
                last = env.step(GenericAction(**action, metadata={"note": "is allowed"}))
            state = env.state()
            self.assertEqual((state["episode_id"], state["seed"]), ("mine", SEED))
            self.assertEqual(state["step_count"], len(reference(name)))
            self.assertTrue(last.done and state["done"])
            after = env.step({"action": "status"})
            self.assertTrue(after.done)
            self.assertEqual(after.reward, 0.0)
            again = env.reset(seed=SEED, task=scenarios()[name]["task"])
            self.assertEqual(
                {**again.observation, "metadata": {}}, {**first.observation, "metadata": {}}
            )

    async def test_errors_say_what_is_wrong(self):
        async with GenericEnvClient(base_url=self.server.url) as env:
            await env.reset(seed=1)
            for action, says in [
                ({"action": "restrat"}, "did you mean `restart`"),
                ({"action": "restart"}, "component"),
                ({"action": "wait", "seconds": "soon"}, "seconds"),
            ]:
                with self.assertRaisesRegex(RuntimeError, "VALIDATION_ERROR") as caught:
                    await env.step(action)
                self.assertIn(says, str(caught.exception))
            for options, says in [
                ({"seed": -1}, "greater than or equal to 0"),
                ({"seed": 1 << 63}, "9223372036854775807"),
                ({"taks": "x"}, "did you mean `task`"),
                ({"task": "x"}, "expected one of task-"),
            ]:
                with self.assertRaisesRegex(RuntimeError, "VALIDATION_ERROR") as caught:
                    await env.reset(**options)
                self.assertIn(says, str(caught.exception))
            self.assertEqual((await env.step({"action": "status"})).observation["step"], 1)


class Tools(Served):
    async def test_the_reference_by_tools(self):
        for name in ["overload/retry-storm", "healthy/busy-database", "change/bad-deploy"]:
            async with MCPToolClient(base_url=self.server.url) as env:
                await env.reset(task=scenarios()[name]["task"], seed=SEED)
                tools = {tool.name: tool for tool in await env.list_tools()}
                self.assertEqual(tools["restart"].input_schema["required"], ["component"])
                rewards = []
                for action in reference(name):
                    arguments = dict(action)
                    result = await env.call_tool(arguments.pop("action"), **arguments)
                    rewards.append(result["reward"])
                self.assertTrue(result["done"])
                self.assertEqual(rewards, played()[name, "reference"]["rewards"])
                self.assertEqual((await env.state()).step_count, len(rewards))

    async def test_steps_that_call_tools(self):
        async with MCPToolClient(base_url=self.server.url) as env:
            await env.reset(seed=SEED)
            called = await env.step(CallToolAction(tool_name="status", arguments={}))
            self.assertEqual(called.observation.tool_name, "status")
            self.assertIsNone(called.observation.error)
            self.assertEqual(called.observation.result["data"]["observation"]["step"], 1)
            self.assertIsInstance(called.reward, float)
            failed = await env.step(CallToolAction(tool_name="nope", arguments={}))
            self.assertEqual(failed.observation.error.error_type.value, "tool_not_found")
            with self.assertRaisesRegex(RuntimeError, "Unknown tool: 'nope'"):
                await env.call_tool("nope")

    def test_the_synchronous_client(self):
        with MCPToolClient(base_url=self.server.url).sync() as env:
            env.reset(seed=SEED)
            names = [tool.name for tool in env.list_tools()]
            self.assertIn("resolve", names)
            self.assertTrue(env.call_tool("resolve")["done"])


class Final(Served):
    options = ("--reward", "final")

    async def test_the_score_comes_at_the_end(self):
        name = "overload/retry-storm"
        results = await play(self.server.url, scenarios()[name]["task"], SEED, reference(name))
        rewards = [result.reward for result in results[1:]]
        self.assertEqual(rewards[:-1], [0.0] * (len(rewards) - 1))
        self.assertAlmostEqual(rewards[-1], played()[name, "reference"]["score"], places=9)


class Small(Served):
    options = ("--max-sessions", "2")

    async def test_a_full_server_says_so_and_a_place_comes_free(self):
        first, second, third = (GenericEnvClient(base_url=self.server.url) for _ in range(3))
        async with first, second:
            await first.reset(seed=1)
            await second.reset(seed=1)
            await third.connect()
            with self.assertRaisesRegex(RuntimeError, "2/2 sessions active.*--max-sessions"):
                await third.reset(seed=1)
            await third.close()
        async with GenericEnvClient(base_url=self.server.url) as env:
            self.assertFalse((await env.reset(seed=1)).done)
