"""This folder as an environment of OpenEnv."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

from openenv.cli.commands.push import _validate_openenv_directory
from openenv.validation import CheckStatus, Level, ProviderCapability, run_validation
from support import PACKAGE

from mayday_env import find_binary

GRADERS = ["observation_schema", "reward_well_formed", "state_contract"]


def instruction(name: str) -> list[str]:
    """The arguments of an instruction of the Dockerfile."""
    lines = (PACKAGE / "Dockerfile").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{name} ")]
    arguments: list[str] = json.loads(line.removeprefix(name))
    return arguments


class Running:
    """The command of the image, without the image: nothing but the binary and an empty folder."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp()
        program, *entry = instruction("ENTRYPOINT")
        assert program == "/mayday"
        # The kernel chooses the port, and nobody from outside may come.
        command = ["127.0.0.1:0" if one == "0.0.0.0:8000" else one for one in instruction("CMD")]
        self.process = subprocess.Popen(
            [find_binary(), *entry, *command],
            cwd=self.folder,
            env={},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = json.loads(self.process.stdout.readline())["agents"]
        self.base_url = f"http://{self.address}"

    def inspect(self) -> dict[str, Any]:
        return {}

    def logs(self, max_bytes: int = 65536) -> str:
        return ""

    def exec(self, argv: list[str], timeout_s: float) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        shutil.rmtree(self.folder)


class Provider:
    """What the validator starts environments with."""

    name = "process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def build(self, root: pathlib.Path, execution: Any) -> str:
        return "sha256:" + "0" * 64

    def start(self, spec: Any) -> Running:
        return Running()


class Environment(unittest.TestCase):
    def test_the_validator_passes(self) -> None:
        program = pathlib.Path(sys.executable).with_name("openenv")
        done = subprocess.run(
            [program, "validate", str(PACKAGE), "--level", "static", "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_graders_pass_with_the_command_of_the_image(self) -> None:
        report = run_validation(PACKAGE, max_level=Level.RUNTIME, provider=Provider())
        checks = {check.check_id: check for check in report.results}
        for name in ["static.manifest", "runtime.startup", *(f"runtime.{one}" for one in GRADERS)]:
            self.assertIs(checks[name].status, CheckStatus.PASS, checks[name])
        passing = (CheckStatus.PASS, CheckStatus.SKIP)
        self.assertEqual([one for one in report.results if one.status not in passing], [])

    def test_it_can_be_pushed(self) -> None:
        name, manifest = _validate_openenv_directory(PACKAGE)
        self.assertEqual((name, manifest["port"]), ("mayday_env", 8000))

    def test_the_health_check_of_the_image_works(self) -> None:
        lines = (PACKAGE / "Dockerfile").read_text().splitlines()
        (line,) = [line for line in lines if line.startswith("HEALTHCHECK ")]
        _, *check = json.loads(line[line.index("[") :])
        running = Running()
        with contextlib.ExitStack() as stack:
            stack.callback(running.stop)
            command = [running.address if one == "127.0.0.1:8000" else one for one in check]
            done = subprocess.run([find_binary(), *command], env={}, check=False)
            self.assertEqual(done.returncode, 0)
        done = subprocess.run([find_binary(), *command], env={}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)

    def test_what_the_image_copies_is_let_through(self) -> None:
        lines = (PACKAGE / "Dockerfile").read_text().splitlines()
        copied = [line.split()[1] for line in lines if line.startswith("COPY ")]
        kept = (PACKAGE / ".dockerignore").read_text().splitlines()
        for path in copied:
            self.assertIn(f"!{path}", kept)
        links = [path for path in PACKAGE.rglob("*") if path.is_symlink()]
        self.assertEqual(links, [], "the validator refuses links")
