"""OpenEnv's validator: of a running server, and its runtime graders without Docker."""

import json
import pathlib
import subprocess
import sys
import tempfile

from kit import Served
from openenv.validation import CheckStatus, Level, ProviderCapability, run_validation

MANIFEST = """\
spec_version: 1
name: mayday
version: 0.1.0
type: space
runtime: docker
app: server.app:app
port: 8000
validation:
  reward: {range: [-1.0, 1.0], floor_margin: 0.1}
  resources: {cpu: 1.0, memory_mb: 512, disk_mb: 256, episode_timeout_s: 60.0}
  capabilities: {verifier: {kind: reward_channel}}
  types: {tags: [operations]}
  network: {mode: public}
  execution:
    {kind: openenv_ws, dockerfile: Dockerfile, context: ".", probe_path: validation/runtime.json}
"""
PLAN = {
    "plan_schema_version": "1",
    "reset": {"episode_id": "v-1", "seed": 7, "options": {}},
    "actions": [
        {"action": "status"},
        {"action": "topology"},
        {"type": "list_tools"},
        {"tool_name": "changes", "arguments": {"minutes": 5}},
        {"action": "wait", "seconds": 60},
        {"action": "resolve"},
    ],
}
GRADERS = ["observation_schema", "reward_well_formed", "state_contract"]


class Running:
    """The server that runs already."""

    def __init__(self, url):
        self.base_url = url

    def inspect(self):
        return {}

    def logs(self, max_bytes=65536):
        return ""

    def exec(self, argv, timeout_s):
        raise NotImplementedError

    def stop(self):
        pass


class Provider:
    """What the validator starts environments with."""

    name = "running"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self, url):
        self.url = url

    def build(self, root, execution):
        return "sha256:" + "0" * 64

    def start(self, spec):
        return Running(self.url)


class Validator(Served):
    def test_a_running_server_passes(self):
        program = pathlib.Path(sys.executable).with_name("openenv")
        done = subprocess.run(
            [program, "validate", "--url", self.server.url, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(report["passed"])
        self.assertEqual(report["mode"], "simulation")
        self.assertEqual(len(report["criteria"]), 6)

    def test_the_runtime_graders_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "openenv.yaml").write_text(MANIFEST)
            (root / "Dockerfile").write_text("FROM scratch\n")
            (root / "validation").mkdir()
            (root / "validation/runtime.json").write_text(json.dumps(PLAN))
            report = run_validation(
                root, max_level=Level.RUNTIME, provider=Provider(self.server.url)
            )
        checks = {check.check_id: check for check in report.results}
        for name in ["static.manifest", "runtime.startup", *(f"runtime.{g}" for g in GRADERS)]:
            self.assertIs(checks[name].status, CheckStatus.PASS, checks[name])
        bad = [c for c in report.results if c.status not in (CheckStatus.PASS, CheckStatus.SKIP)]
        self.assertEqual(bad, [])


class Production(Served):
    options = ("--mode", "production")

    def test_a_server_without_episodes_over_http_passes(self):
        program = pathlib.Path(sys.executable).with_name("openenv")
        done = subprocess.run(
            [program, "validate", "--url", self.server.url, "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(json.loads(done.stdout)["mode"], "production")
