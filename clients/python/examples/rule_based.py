"""An agent of a dozen rules plays every task once: `rule_based.py [--url URL] [--seed N]`.

Without a URL a server is started. It prints a line per episode and the mean return.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mayday_env import LocalServer, MaydayAction, MaydayEnv, MaydayObservation, MaydayState
from mayday_env.actions import (
    Changes,
    FlushCache,
    FreeDisk,
    KillProcess,
    KillSession,
    ParkMessage,
    RenewCertificate,
    Resolve,
    Restart,
    Rollback,
    SetCache,
    SetHealthCheck,
    SetPolicy,
    StartUnit,
    Status,
    Wait,
)
from mayday_env.client import list_tasks

if TYPE_CHECKING:
    from openenv.core.sync_client import SyncEnvClient

    Client = SyncEnvClient[MaydayAction, MaydayObservation, MaydayState]

Facts = dict[str, dict[str, str]]


def of_host(host: str, facts: dict[str, str]) -> Iterator[MaydayAction]:
    """What is wrong with units, processes and the disk of a host."""
    units = {key: text for key, text in facts.items() if key.startswith("unit ")}
    jobs = {int(key.split()[1]): text for key, text in facts.items() if key.startswith("process ")}
    full = any(key == "disk" and float(text.split()[0]) > 98 for key, text in facts.items())
    squatted = any("cannot bind its port" in text for text in units.values())
    for pid, text in jobs.items():
        cores = re.search(r"([0-9.]+) cores", text)
        greedy = cores is not None and float(cores.group(1)) >= 4
        if greedy or squatted or full:
            yield KillProcess(host=host, pid=pid)
    if full:
        logs = (key.removeprefix("file ") for key in facts if key.endswith(".log"))
        for path in logs:
            yield FreeDisk(host=host, path=path)
    for key, text in units.items():
        if text.startswith("failed"):
            yield StartUnit(host=host, unit=key.removeprefix("unit "))


def of_component(name: str, facts: dict[str, str]) -> Iterator[MaydayAction]:
    """What is wrong with sessions, certificates, messages and retries of a component."""
    if facts.get("certificate", "valid") != "valid":
        yield RenewCertificate(component=name)
    for key in facts:
        session = re.fullmatch(r"session ([0-9]+)", key)
        if session:
            yield KillSession(component=name, session=int(session.group(1)))
    for key, text in facts.items():
        if key.startswith("partition ") and "does not move" in text:
            yield ParkMessage(component=name, partition=int(key.split()[1]))
        stale = re.search(r"([0-9.]+) % of the clients hold stale", text)
        if stale and float(stale.group(1)) > 1:
            yield FlushCache(component=name)
        attempts = re.search(r"([0-9.]+) attempts each", text)
        if attempts and float(attempts.group(1)) > 1.8:
            callee = key.removeprefix("dependency ")
            yield SetPolicy(component=name, callee=callee, retries=0)
    yield from of_replicas(name, facts)


def of_replicas(name: str, facts: dict[str, str]) -> Iterator[MaydayAction]:
    """What is wrong where some replicas of a component are worse off than others."""
    if any("out of rotation by health checks" in text for text in facts.values()):
        yield SetHealthCheck(component=name, timeout=1, failures=3, floor=0.5)
    if float(facts.get("busiest replica", "0").split()[0]) > 40:
        yield SetCache(component=name, spread_hot_keys=True)
    shared = re.search(r"partitions of ([0-9]+)", facts.get("consumer group", ""))
    behind = [
        key for key, text in facts.items() if key.startswith("partition ") and "behind" in text
    ]
    if shared and 1 < len(behind) < int(shared.group(1)):
        yield Restart(component=name)


def of_changes(changes: list[dict[str, Any]]) -> Iterator[MaydayAction]:
    """What was changed shortly before: settings first, then versions, the older ones first."""
    for word in ("configuration pushed", "migration applied", "deployed"):
        for change in changes:
            if word in change["change"]:
                yield Rollback(component=change["component"])


def suspects(status: Facts, changes: list[dict[str, Any]]) -> Iterator[MaydayAction]:
    """All remedies that come to mind, the surest ones first."""
    hosts = {name: facts for name, facts in status.items() if "disk" in facts}
    for name, facts in hosts.items():
        yield from of_host(name, facts)
    for name, facts in status.items():
        if name not in hosts:
            yield from of_component(name, facts)
    yield from of_changes(changes)


def play(env: Client, task: str, seed: int) -> float:
    """Plays one episode; what it paid."""
    result = env.reset(task=task, seed=seed)
    paid, tried = 0.0, []

    def step(action: MaydayAction) -> Any:
        nonlocal result, paid
        result = env.step(action)
        paid += result.reward or 0.0
        return result.observation.result.data if result.observation.result else None

    changes = step(Changes(minutes=10))
    while not result.done and result.observation.firing:
        status = step(Status())
        remedy = next((one for one in suspects(status, changes) if one not in tried), None)
        if remedy is None:
            break
        tried.append(remedy)
        # One that does not fit here is refused, and costs nothing.
        with contextlib.suppress(RuntimeError):
            step(remedy)
        if not result.done:
            step(Wait(seconds=30))
    if not result.done:
        step(Resolve(summary=", ".join(one.action for one in tried)))
    return paid


def play_all(url: str, seed: int) -> None:
    """Every task once."""
    names = sorted({one.task for one in list_tasks(url)})
    returns = []
    with MaydayEnv(base_url=url).sync() as env:
        for task in names:
            returns.append(play(env, task, seed))
            print(f"{task}  {returns[-1]:6.3f}", flush=True)
    print(f"mean of {len(returns)} episodes: {sum(returns) / len(returns):.3f}")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server of `mayday serve`; default: one is started")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if options.url:
        play_all(options.url, options.seed)
        return
    with LocalServer() as server:
        play_all(server.url, options.seed)


if __name__ == "__main__":
    main()
