"""The examples, as their readers run them."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

from support import ROOT, SCENARIO, SEED, Served, run, task

from mayday_env import MaydayEnv
from mayday_env.actions import Changes, Resolve, Rollback

TOOLS = ROOT / "tests/tools"


@contextlib.contextmanager
def model(script: str) -> Iterator[tuple[str, pathlib.Path]]:
    """A scripted endpoint: its URL, and what it was asked."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.jsonl"
        script_file = TOOLS / "fake_llm_scripts.json"
        process = subprocess.Popen(
            [
                *(sys.executable, TOOLS / "fake_llm.py"),
                *("--script", script_file, "--set", script, "--log", log),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["url"], log
        finally:
            process.terminate()
            process.wait(timeout=30)
            if process.stdout is not None:
                process.stdout.close()


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class Rules(unittest.TestCase):
    def test_rules_avoid_most_of_the_harm(self) -> None:
        said = run("rule_based.py")
        *episodes, mean = said.splitlines()
        self.assertGreater(len(episodes), 20)
        self.assertGreater(float(mean.rsplit(" ", 1)[1]), 0.6, said)


class Model(Served):
    def test_a_model_plays_over_a_chat_endpoint(self) -> None:
        plan = [
            Changes(minutes=15),
            Rollback(component="shop"),
            Resolve(summary="rolled the shop back"),
        ]
        with MaydayEnv(base_url=self.url).sync() as env:
            expected = {}
            for seed in (SEED, SEED + 1):
                env.reset(task=task(SCENARIO), seed=seed)
                expected[seed] = sum(env.step(action).reward or 0.0 for action in plan)
        with model("bad-deploy") as (endpoint, log):
            said = lines(
                run(
                    "llm_agent.py",
                    *("--url", self.url, "--base-url", endpoint, "--model", "fake"),
                    *("--task", task(SCENARIO), "--seed", str(SEED), str(SEED + 1)),
                )
            )
            asked = [one["request"] for one in lines(log.read_text())]
        self.assertEqual({one["seed"]: one["return"] for one in said}, expected)
        self.assertEqual([one["end"] for one in said], ["resolved"] * 2)
        self.assertGreater(min(expected.values()), 0.9)
        for request in asked:
            first, page, *_ = request["messages"]
            self.assertEqual((request["model"], first["role"]), ("fake", "system"))
            self.assertIn('"const": "rollback"', first["content"])
            self.assertIn("shopping-burn", page["content"])
        text = json.dumps(asked)
        for says in ["no JSON object", "did you mean `shop`", "the model is overloaded"]:
            self.assertIn(says, text, "the model is told what was wrong")

    def test_a_model_that_babbles_and_one_that_is_gone_hand_over(self) -> None:
        common = ("llm_agent.py", "--url", self.url, "--model", "fake", "--base-url")
        with model("babbling") as (endpoint, _):
            (said,) = lines(run(*common, endpoint))
            self.assertIn("handed over: there is no JSON object", said["end"])
        (said,) = lines(run(*common, endpoint))
        self.assertIn("handed over: Connection error", said["end"])


class Parallel(Served):
    def test_the_returns_do_not_depend_on_the_way_nor_on_who_plays_beside(self) -> None:
        common = ("parallel_rollouts.py", "--url", self.url, "--episodes", "27")
        said = run(*common, "--sessions", "9")
        self.assertEqual(said, run(*common, "--sessions", "4", "--worker"))
        batch = json.loads(said)
        self.assertEqual(len(batch["returns"]), 27)
        self.assertTrue(all(-1 <= one <= 1 for one in batch["returns"]))
        self.assertGreater(batch["mean"], 0.0)
        self.assertGreater(batch["steps"], 27)
