"""Starts `mayday serve`, and knows what the built-in agents get."""

import functools
import json
import os
import signal
import subprocess
import tempfile
import unittest

BINARY = os.environ["MAYDAY_BINARY"]
SEED = 7
# Settings of the person who runs the tests do not reach the server.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("MAYDAY_", "OPENENV_", "OTEL_")) and name != "RUST_LOG"
}


def mayday(*args):
    """The JSON that a command prints."""
    done = subprocess.run(
        [BINARY, *args], env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{args}: {done.stderr}")
    return json.loads(done.stdout)


class Server:
    """A server on a port that the kernel chose."""

    def __init__(self, *args):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--control", "off", *args],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise AssertionError(f"no server: {self.errors.read()}")
        self.address = json.loads(line)["agents"]
        self.url = f"http://{self.address}"
        self.ws = f"ws://{self.address}/ws"

    def stop(self):
        """In order; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        return code


class Served(unittest.IsolatedAsyncioTestCase):
    """Tests over one server."""

    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        if code != 0:
            raise AssertionError(f"the server ended with {code}")


@functools.cache
def scenarios():
    """All shipped scenarios that a server offers, by name, with their opaque task."""
    listed = mayday("scenario", "list", "--json")
    return {one["name"]: one for one in listed if one["dialect"] is None}


@functools.cache
def resolved(name):
    """A scenario with its truth, which no agent sees."""
    return mayday("scenario", "show", name, "--json")


def reference(name):
    """The plan of the reference."""
    return (*resolved(name)["truth"]["reference"], {"action": "resolve"})


def secrets(name):
    """What must not be read at the agents' port."""
    scenario = resolved(name)
    labels = [wrong["label"] + ": " + wrong["why"] for wrong in scenario["truth"]["wrong"]]
    return [name, scenario["title"], scenario["summary"], scenario["truth"]["canary"], *labels]


@functools.cache
def played():
    """What the built-in agents get without any network: (scenario, agent) to episode."""
    done = mayday("run", "--agents", "reference,noop", "--seeds", f"{SEED}..{SEED + 1}", "--json")
    return {(one["scenario"], one["agent"]): one for one in done["episodes"]}
