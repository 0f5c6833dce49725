"""The binary under test, and what its built-in agents get."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest
from typing import Any, ClassVar

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent
ROOT = PACKAGE.parent.parent
SEED = 7
SCENARIO = "change/bad-deploy"

os.environ.setdefault("MAYDAY_BINARY", str(ROOT / "target/debug/mayday"))
# Settings of the person who runs the tests do not reach what they start.
for _name in list(os.environ):
    if _name != "MAYDAY_BINARY" and _name.startswith(("MAYDAY_", "OPENENV_", "OTEL_", "OPENAI_")):
        del os.environ[_name]
os.environ.pop("RUST_LOG", None)

from mayday_env import LocalServer, MaydayAction, find_binary, parse_action  # noqa: E402


@functools.cache
def mayday(*args: str) -> Any:
    """The JSON that a command prints."""
    done = subprocess.run([find_binary(), *args], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{args}: {done.stderr}")
    return json.loads(done.stdout)


def task(scenario: str) -> str:
    """The opaque task of a scenario."""
    names: list[dict[str, Any]] = mayday("scenario", "list", "--json")
    return str(next(one["task"] for one in names if one["name"] == scenario))


def reference(scenario: str) -> list[MaydayAction]:
    """The plan of the reference."""
    truth = mayday("scenario", "show", scenario, "--json")["truth"]
    return [parse_action(one) for one in [*truth["reference"], {"action": "resolve"}]]


def played(scenario: str, agent: str) -> dict[str, Any]:
    """What a built-in agent gets without any network."""
    seeds = f"{SEED}..{SEED + 1}"
    done = mayday("run", scenario, "--agents", agent, "--seeds", seeds, "--json")
    episode: dict[str, Any] = done["episodes"][0]
    return episode


def run(program: str, *args: str) -> str:
    """What an example prints."""
    path = str(PACKAGE / "examples" / program)
    done = subprocess.run(
        [sys.executable, path, *args], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{program} {args}: {done.stdout}{done.stderr}")
    return done.stdout


class Served(unittest.IsolatedAsyncioTestCase):
    """Tests over one server."""

    url: ClassVar[str]

    @classmethod
    def setUpClass(cls) -> None:
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(LocalServer()).url
