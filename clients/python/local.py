"""Starts the `mayday` binary on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from types import TracebackType


def find_binary(binary: str | None = None) -> str:
    """The given binary, else the one that MAYDAY_BINARY names, else the one on the PATH."""
    found = binary or os.environ.get("MAYDAY_BINARY") or shutil.which("mayday")
    if found is None:
        raise FileNotFoundError("no mayday: put it on the PATH, or name it by MAYDAY_BINARY")
    return found


class LocalServer:
    """`mayday serve` at a free port of the loopback interface, as long as the block lasts::

    with LocalServer() as server:
        env = MaydayEnv(base_url=server.url)
    """

    def __init__(self, *options: str, binary: str | None = None) -> None:
        self._command = [
            find_binary(binary),
            *("serve", "--listen", "127.0.0.1:0", "--control", "off", "--log", "warn"),
            *options,
        ]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> LocalServer:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise RuntimeError(f"{' '.join(self._command)} ended with {code}")
        self.url = f"http://{json.loads(line)['agents']}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
