"""The official SDK of the Model Context Protocol plays a scenario."""

import asyncio
from datetime import timedelta

from kit import SEED, Served, played, reference, scenarios
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import McpError


class Mcp(Served):
    async def test_the_reference_by_typed_tools(self):
        name = "overload/retry-storm"
        async with (
            streamable_http_client(f"{self.server.url}/mcp/v1") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            hello = await session.initialize()
            self.assertEqual(hello.serverInfo.name, "mayday")
            listed = await session.list_tools()
            self.assertIsNone(listed.nextCursor)
            tools = {tool.name: tool for tool in listed.tools}
            self.assertIn("component", tools["restart"].inputSchema["required"])
            self.assertTrue(tools["status"].annotations.readOnlyHint)
            await session.send_ping()
            options = {"task": scenarios()[name]["task"], "seed": SEED}
            begun = await session.call_tool("begin_episode", options)
            self.assertFalse(begun.isError)
            rewards = []
            for action in reference(name):
                arguments = dict(action)
                called = await session.call_tool(arguments.pop("action"), arguments)
                self.assertFalse(called.isError, called)
                rewards.append(called.structuredContent["reward"])
            self.assertTrue(called.structuredContent["done"])
            self.assertEqual(rewards, played()[name, "reference"]["rewards"])
            wrong = await session.call_tool("restart", {"component": "nobody"})
            self.assertFalse(wrong.isError, "what is over stands still")
            await session.call_tool("begin_episode", options)
            wrong = await session.call_tool("restart", {"component": "nobody"})
            self.assertTrue(wrong.isError)
            self.assertIn("expected one of", wrong.content[0].text)
            with self.assertRaises(McpError):
                await session.call_tool("nope", {})

    async def test_connections_have_episodes_of_their_own(self):
        async def one(seed):
            async with (
                streamable_http_client(f"{self.server.url}/mcp/v1") as (read, write, _),
                ClientSession(read, write, timedelta(seconds=30)) as session,
            ):
                await session.initialize()
                begun = await session.call_tool("begin_episode", {"seed": seed})
                seen = [begun.structuredContent["observation"]]
                for _ in range(3):
                    called = await session.call_tool("wait", {"seconds": 60})
                    seen.append(called.structuredContent["observation"])
                return seen

        together = await asyncio.gather(*(one(seed) for seed in range(8)))
        for seed in (0, 5):
            self.assertEqual(together[seed], await one(seed))
        self.assertEqual(together[0][3]["step"], 3)
