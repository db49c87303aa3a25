"""A node for benches: a process of its own, with its own Postgres and S3 below one directory."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from app.embedded.services import BUCKET
from app.embedded.state import load_state
from odf_core.storage.credentials import Credentials
from odf_core.storage.presign import Presigner

ACCOUNT = "bench"
_STARTED_SECONDS = 60.0
_STOPPED_SECONDS = 40.0
_ADDRESS = re.compile(r"Node:\s+(http://\S+)")
_COMMAND = (sys.executable, "-c", "from app.cli.main import main; main()")


class NodeProcess:
    """`odf serve --embedded` over `data_dir`, with the settings that every user gets."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._process: subprocess.Popen[bytes] | None = None
        self._token: str | None = None
        self._environment: dict[str, str] = {}
        self.address = ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and wait until it says its address."""
        out, err = self.data_dir.with_suffix(".out"), self.data_dir.with_suffix(".log")
        arguments = ["serve", "--embedded", "--data-dir", str(self.data_dir), "--port", "0"]
        with out.open("wb") as stdout, err.open("ab") as stderr:
            self._process = subprocess.Popen(
                [*_COMMAND, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **self._environment},
            )
        deadline = time.monotonic() + _STARTED_SECONDS
        while (found := _ADDRESS.search(out.read_text())) is None:
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"the node did not start; its last words: {_tail(err)}")
            time.sleep(0.02)
        self.address = found.group(1)

    def stop(self) -> None:
        """SIGTERM, as a person's Ctrl-C; Postgres and S3 end with the node."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOPPED_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self, **environment: str) -> None:
        """A new process on the same data: caches in memory are empty, the peak of memory starts anew.

        `environment` changes settings (`ODF_ADMISSION__LOGICAL_HASH="off"`) until the next restart.
        """
        self.stop()
        self._environment = environment
        self.start()

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError("the node is not running")
        return self._process.pid

    @property
    def token(self) -> str:
        """A token of the account that owns what benches push; made at the first use."""
        if self._token is None:
            self._admin(["account", "create", ACCOUNT])
            self._token = self._admin(["token", "create", ACCOUNT]).split()[-1]
        return self._token

    def _admin(self, arguments: Sequence[str]) -> str:
        own = ["admin", "--embedded", "--data-dir", str(self.data_dir)]
        done = subprocess.run([*_COMMAND, *own, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"odf admin {' '.join(arguments)} failed: {done.stderr.strip()}")
        return done.stdout

    def presigner(self) -> Presigner:
        """Signs for the node's bucket as the node does; for baselines that go past it."""
        state = load_state(self.data_dir / "services.json")
        return Presigner(
            Credentials(state.access_key_id, state.secret_access_key),
            endpoint=f"http://127.0.0.1:{state.s3_port}",
            region="us-east-1",
            bucket=BUCKET,
        )

    def peak_memory_mb(self) -> float | None:
        """Peak resident memory of the node process alone (VmHWM), in 10^6 bytes; None where /proc is none."""
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            return None
        found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        return None if found is None else int(found.group(1)) * 1024 / 1e6

    def cpu_seconds(self) -> float:
        """Processor time that the node process has used (not its children's); 0 where /proc is none."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-1500:] if log.exists() else "(none)"
