"""Many episodes over one pair of pipes: the client of `mayday rollout`."""

from __future__ import annotations

import asyncio
import itertools
import json
from types import TracebackType
from typing import Any

from .client import Result, parse_result
from .local import find_binary
from .models import MaydayAction

_LINE_MAX = 64 << 20


class RolloutError(RuntimeError):
    """What was sent did not fit, or could not be done; nothing has happened."""

    def __init__(self, code: str, message: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(f"{message} (code: {code})")
        self.code = code
        self.errors = errors


class Rollouts:
    """A worker of this machine, as long as the block lasts::

        async with Rollouts() as rollouts:
            episodes = [rollouts.episode() for _ in range(64)]
            await asyncio.gather(*(episode.reset(seed=at) for at, episode in enumerate(episodes)))

    The worker's own options may be given, such as `"--out", "trajectories.jsonl"`. Everything has
    to be called in one event loop.
    """

    def __init__(self, *options: str, binary: str | None = None) -> None:
        self._command = [find_binary(binary), "rollout", *options]
        self._ids, self._names = itertools.count(1), itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ended = False
        self.hello: dict[str, Any] = {}

    @property
    def tasks(self) -> list[str]:
        """All tasks, by their opaque names."""
        return list(self.hello["tasks"])

    @property
    def pid(self) -> int | None:
        """The process of the worker."""
        return self._process.pid if self._process else None

    def episode(self, name: str | None = None) -> Episode:
        """A place for one episode after another."""
        return Episode(self, name or f"episode-{next(self._names)}")

    async def __aenter__(self) -> Rollouts:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, limit=_LINE_MAX
        )
        self._process = process
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise RuntimeError(f"{' '.join(self._command)} ended with {code}")
        self.hello = json.loads(line)
        self._reading = asyncio.create_task(self._read(process.stdout))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process, reading = self._process, self._reading
        if process is None or reading is None or process.stdin is None:
            return
        process.stdin.close()
        # Steps that run are finished; whoever waits for them still gets the answers.
        await reading
        code = await process.wait()
        if code != 0 and kind is None:
            raise RuntimeError(f"{' '.join(self._command)} ended with {code}")

    async def ask(self, kind: str, episode: str, data: dict[str, Any] | None) -> dict[str, Any]:
        """Sends a request and waits for its answer; others may be answered before."""
        if self._process is None or self._process.stdin is None or self._ended:
            raise ConnectionError("the worker has ended")
        number = next(self._ids)
        request: dict[str, Any] = {"id": number, "episode": episode, "type": kind}
        if data is not None:
            request["data"] = data
        told: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = told
        try:
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                await self._process.stdin.drain()
            except OSError as error:
                raise ConnectionError("the worker has ended") from error
            answer = await told
        finally:
            self._waiting.pop(number, None)
        if "error" in answer:
            wrong = answer["error"]
            raise RolloutError(wrong["code"], wrong["message"], wrong.get("errors", []))
        return answer

    async def _read(self, lines: asyncio.StreamReader) -> None:
        try:
            while line := await lines.readline():
                answer = json.loads(line)
                told = self._waiting.get(answer["id"])
                if told is not None and not told.done():
                    told.set_result(answer)
        finally:
            self._ended = True
            for told in self._waiting.values():
                if not told.done():
                    told.set_exception(ConnectionError("the worker has ended"))


class Episode:
    """One episode after another, under one name."""

    def __init__(self, rollouts: Rollouts, name: str) -> None:
        self._rollouts = rollouts
        self.name = name

    async def reset(
        self, *, task: str | None = None, seed: int | None = None, **options: Any
    ) -> Result:
        """Begins the next one; it ends the one before it."""
        known = {"task": task, "seed": seed}
        given = {name: value for name, value in known.items() if value is not None}
        answer = await self._rollouts.ask("reset", self.name, {**given, **options})
        return parse_result(answer)

    async def step(self, action: MaydayAction) -> Result:
        """Takes a step; one that does not fit is a RolloutError."""
        return parse_result(await self._rollouts.ask("step", self.name, action.payload()))

    async def close(self) -> bool:
        """Leaves it before it is over; whether there was one."""
        answer = await self._rollouts.ask("close", self.name, None)
        return bool(answer["closed"])
