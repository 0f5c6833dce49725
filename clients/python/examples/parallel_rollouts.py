"""Many episodes at once, as a trainer plays them: `parallel_rollouts.py [--sessions N] …`.

Each session plays one episode after another: over a WebSocket of its own, or with `--worker` all
of them over one pair of pipes of `mayday rollout`. Here the policy is a random one; a trainer puts
its model in the place of `choose` and learns from the batch. A line with the returns is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from mayday_env import LocalServer, MaydayAction, MaydayEnv, MaydayObservation, Result, Rollouts
from mayday_env.actions import Changes, Resolve, Restart, Rollback, Status, Wait
from mayday_env.client import list_tasks
from mayday_env.models import Task


class Session(Protocol):
    """What a session has to do, over either way."""

    def reset(self, *, task: str, seed: int) -> Awaitable[Result]:
        """Begins an episode."""
        ...

    def step(self, action: MaydayAction) -> Awaitable[Result]:
        """Takes a step."""
        ...


@dataclass
class Trajectory:
    """What a trainer learns from."""

    task: Task
    observations: list[MaydayObservation] = field(default_factory=list)
    actions: list[MaydayAction] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The return of the episode."""
        return sum(self.rewards)


def choose(seen: MaydayObservation, dice: random.Random) -> MaydayAction:
    """The policy: looks first, then acts at random on what it has seen."""
    if seen.step == 0 or seen.result is None:
        return Status()
    if not seen.firing:
        return Resolve()
    if seen.result.action == "status":
        # Hosts have no queue of requests.
        known = sorted(name for name, facts in seen.result.data.items() if "queue" in facts)
        component = dice.choice(known)
        remedies: list[MaydayAction] = [Restart(component=component), Rollback(component=component)]
        return dice.choice(remedies)
    others: list[MaydayAction] = [Status(), Changes(), Wait(seconds=60)]
    return dice.choice(others)


async def play(session: Session, task: Task, steps: int) -> Trajectory:
    """One episode. The dice belong to it: who plays beside it changes nothing."""
    dice = random.Random(f"{task.task} {task.seed}")
    trajectory = Trajectory(task)
    result = await session.reset(task=task.task, seed=task.seed)
    while not result.done:
        # A policy that goes on for ever is stopped.
        over = len(trajectory.actions) + 1 >= steps
        action = Resolve() if over else choose(result.observation, dice)
        trajectory.observations.append(result.observation)
        result = await session.step(action)
        trajectory.actions.append(action)
        trajectory.rewards.append(result.reward or 0.0)
    return trajectory


async def gather(sessions: list[Session], tasks: list[Task], steps: int) -> list[Trajectory]:
    """All tasks, each by the session that is free next; results in the order of the tasks."""
    queue = list(enumerate(tasks))
    queue.reverse()
    played: dict[int, Trajectory] = {}

    async def work(session: Session) -> None:
        while queue:
            at, task = queue.pop()
            played[at] = await play(session, task, steps)

    await asyncio.gather(*(work(session) for session in sessions))
    return [played[at] for at in range(len(tasks))]


async def over_sockets(
    url: str, count: int, use: Callable[[list[Session]], Awaitable[None]]
) -> None:
    """With one WebSocket per session."""
    async with contextlib.AsyncExitStack() as stack:
        each = [await stack.enter_async_context(MaydayEnv(base_url=url)) for _ in range(count)]
        await use(list(each))


async def over_pipes(count: int, use: Callable[[list[Session]], Awaitable[None]]) -> None:
    """With one worker for all sessions."""
    async with Rollouts() as rollouts:
        await use([rollouts.episode() for _ in range(count)])


async def run(url: str, options: argparse.Namespace) -> None:
    """One batch of a trainer."""
    tasks = list_tasks(url, options.split, 0, options.episodes)

    async def batch(sessions: list[Session]) -> None:
        trajectories = await gather(sessions, tasks, options.steps)
        returns = [one.total for one in trajectories]
        steps = sum(len(one.actions) for one in trajectories)
        mean = sum(returns) / len(returns)
        print(json.dumps({"returns": returns, "mean": mean, "steps": steps}))

    if options.worker:
        await over_pipes(options.sessions, batch)
    else:
        await over_sockets(url, options.sessions, batch)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server of `mayday serve`; default: one is started")
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--split", choices=["train", "validation", "test"], default="train")
    parser.add_argument("--steps", type=int, default=20, help="most steps of an episode")
    parser.add_argument("--worker", action="store_true", help="over one pair of pipes")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = options.url or stack.enter_context(LocalServer()).url
        asyncio.run(run(url, options))


if __name__ == "__main__":
    main()
