"""OpenEnv's own server with an environment that does nothing, to be measured beside this one.

Listens on 127.0.0.1 and a port of the kernel's choice, and says which on its first line.
"""

import json
import socket

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Nothing(Action):
    n: int = 0


class Seen(Observation):
    n: int = 0


class Noop(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(episode_id="e", step_count=0)

    def reset(self, seed=None, episode_id=None, **kwargs):
        self._state = State(episode_id="e", step_count=0)
        return Seen()

    def step(self, action, timeout_s=None, **kwargs):
        self._state.step_count += 1
        return Seen(n=action.n, reward=0.0)

    @property
    def state(self):
        return self._state


app = create_fastapi_app(Noop, Nothing, Seen, max_concurrent_envs=4096)
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(1024)
print(json.dumps({"agents": "127.0.0.1:%d" % listener.getsockname()[1]}), flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
