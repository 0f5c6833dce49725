"""Connections that break, and a server that stops."""

import asyncio
import json

from kit import Served, Server
from openenv import GenericEnvClient
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


async def tell(socket, message):
    await socket.send(json.dumps(message))
    return json.loads(await socket.recv())["data"]


class Resume(Served):
    async def test_a_client_whose_connection_broke_goes_on_with_its_episode(self):
        socket = await connect(self.server.ws)
        session = socket.response.headers["openenv-session-id"]
        await tell(socket, {"type": "reset", "data": {"seed": 3}})
        await tell(socket, {"type": "step", "data": {"action": "wait", "seconds": 60}})
        socket.transport.abort()
        # The official client, with the id in its headers.
        headers = {"openenv-session-id": session}
        for _ in range(100):
            try:
                async with GenericEnvClient(base_url=self.server.url, headers=headers) as env:
                    state = await env.state()
                    self.assertEqual((state["step_count"], state["seed"]), (1, 3))
                    self.assertEqual(state["last"]["observation"]["seconds"], 60)
                    result = await env.step({"action": "wait", "seconds": 60})
                    self.assertEqual(result.observation["seconds"], 120)
                    return
            except RuntimeError as error:
                # The server has not noticed yet.
                self.assertIn("already has an attached", str(error))
                await asyncio.sleep(0.05)
        self.fail("never free")


class Stop(Served):
    async def test_sockets_close_with_1012(self):
        server = Server()
        sockets = [await connect(server.ws) for _ in range(3)]
        for socket in sockets:
            await tell(socket, {"type": "reset", "data": {"seed": 3}})
        self.assertEqual(await asyncio.to_thread(server.stop), 0)
        for socket in sockets:
            with self.assertRaises(ConnectionClosed) as caught:
                await socket.recv()
            self.assertEqual(caught.exception.rcvd.code, 1012)
