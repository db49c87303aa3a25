"""A real `odf serve --embedded` in a process of its own, to be killed without warning."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

COMMAND = "from app.cli.main import main; main()"
READY_SECONDS = 120


class NodeProcess:
    """One node on one data directory; `start` and `kill` as often as wanted."""

    def __init__(self, data_dir: Path, port: int) -> None:
        self.data_dir, self.port = data_dir, port
        self.address = f"http://127.0.0.1:{port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._log = data_dir.with_suffix(".log")

    def start(self) -> None:
        """Start and wait until the node says that it is ready."""
        arguments = ["serve", "--embedded", "--data-dir", str(self.data_dir), "--port", str(self.port)]
        environment = _environment() | {"ODF_EMBEDDED__SAMPLE": "false", "ODF_LOG__LEVEL": "warning"}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the node did not start:\n{self._log.read_text()[-4000:]}")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/health/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def kill(self) -> None:
        """SIGKILL: nothing in the node can react."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """An orderly end."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(60)

    def admin(self, *arguments: str) -> str:
        """Output of `odf admin` beside the node."""
        command = [sys.executable, "-c", COMMAND, "-q", "admin", "--data-dir", str(self.data_dir), *arguments]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=120, env=_environment()
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def _environment() -> dict[str, str]:
    """This process's environment without settings of a node, and without those of the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ODF_")}
