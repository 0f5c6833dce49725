"""The typed client: OpenEnv's own, with mayday's actions and observations."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, cast

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient

from .models import MaydayAction, MaydayObservation, MaydayState, Task

if TYPE_CHECKING:
    from openenv.core.sync_client import SyncEnvClient

__all__ = [
    "MaydayAction",
    "MaydayEnv",
    "MaydayObservation",
    "MaydayState",
    "Result",
    "list_tasks",
    "parse_result",
]

Result = StepResult[MaydayObservation]


def parse_result(data: dict[str, Any]) -> Result:
    """The answer to a reset or a step, over any of the ways to play."""
    reward, done = data.get("reward"), data["done"]
    observation = MaydayObservation.model_validate(
        {**data["observation"], "reward": reward, "done": done}
    )
    metadata = data.get("metadata") or observation.metadata
    return StepResult(observation=observation, reward=reward, done=done, metadata=metadata)


class MaydayEnv(EnvClient[MaydayAction, MaydayObservation, MaydayState]):
    """One session at a server of `mayday serve`.

    Asynchronous; `.sync()` gives the same for code without an event loop::

        async with MaydayEnv(base_url="http://127.0.0.1:8000") as env:
            result = await env.reset(seed=7)
            result = await env.step(Status())
    """

    def reset(
        self,
        *,
        task: str | None = None,
        seed: int | None = None,
        episode_id: str | None = None,
        **options: Any,
    ) -> Awaitable[Result]:
        """Begins an episode. Options that the server does not know are named in the metadata."""
        known = {"task": task, "seed": seed, "episode_id": episode_id}
        given = {name: value for name, value in known.items() if value is not None}
        return cast("Awaitable[Result]", super().reset(**given, **options))

    def step(self, action: MaydayAction, **options: Any) -> Awaitable[Result]:
        """Takes a step; one that does not fit is a RuntimeError, and nothing has happened."""
        return cast("Awaitable[Result]", super().step(action, **options))

    def state(self) -> Awaitable[MaydayState]:
        """What the server knows of the session."""
        return cast("Awaitable[MaydayState]", super().state())

    def sync(self) -> SyncEnvClient[MaydayAction, MaydayObservation, MaydayState]:
        """The same without an event loop."""
        return super().sync()

    async def __aenter__(self) -> MaydayEnv:
        await super().__aenter__()
        return self

    def _step_payload(self, action: MaydayAction) -> dict[str, Any]:
        return action.payload()

    def _parse_result(self, payload: dict[str, Any]) -> Result:
        return parse_result(payload)

    def _parse_state(self, payload: dict[str, Any]) -> MaydayState:
        return MaydayState.model_validate(payload)


def list_tasks(
    base_url: str, split: str = "train", start: int = 0, stop: int | None = None
) -> list[Task]:
    """Tasks of a split: every task with the first seed, then every task with the next."""
    body = {"split": split, "start": start, "stop": stop}
    request = urllib.request.Request(
        f"{base_url}/mayday/task_range",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [Task.model_validate(task) for task in json.load(answer)["tasks"]]
