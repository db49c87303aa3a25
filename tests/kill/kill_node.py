"""A real `odf serve --embedded` in a process of its own, to be killed and started again."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from app.accounts.service import create_token, ensure_account
from app.database import create_engine
from app.embedded.directory import DataDirectory
from app.embedded.postgres import DATABASE, SUPERUSER
from app.embedded.services import BUCKET
from app.embedded.state import load_state
from app.settings import DatabaseSettings
from tests.scripted.http import request

STARTED_SECONDS = 120
_POLL_SECONDS = 0.01


class KillableNode:
    """One data directory and one port through any number of lives; a context manager.

    What the processes say is in `log`.
    """

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "node"
        self.log = folder / "node.log"
        self.kills = 0
        self._bytecode = folder / "bytecode"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def bucket(self) -> Path:
        """The bucket on disk."""
        return DataDirectory(self.data_dir).s3 / BUCKET

    def start(self) -> None:
        """Start the node and return when it is ready."""
        command = [sys.executable, "-c", "from app.cli.main import main; main()"]
        options = ["--quiet", "serve", "--embedded", "--data-dir", str(self.data_dir)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *options, "--port", str(self._port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
            )
        deadline = time.monotonic() + STARTED_SECONDS
        while not self._is_ready():
            assert self._process.poll() is None, f"the node ended by itself:\n{self.last_words()}"
            assert time.monotonic() < deadline, f"the node does not start:\n{self.last_words()}"
            time.sleep(_POLL_SECONDS)

    def _environment(self) -> dict[str, str]:
        """Compiled once, so that a life begins in the time that it takes an installed node."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ODF_", "PYTHON"))}
        return kept | {
            "PYTHONPYCACHEPREFIX": str(self._bytecode),
            "ODF_LOG__LEVEL": "warning",
            "ODF_TRANSFER__CLOSE_WAIT_SECONDS": "0.5",
        }

    def _is_ready(self) -> bool:
        try:
            return request("GET", f"{self.base_url}/health/ready", timeout=5)[0] == 200
        except OSError:
            return False

    def kill(self) -> None:
        """SIGKILL, and nothing else; the children end by themselves."""
        assert self._process is not None
        assert self._process.poll() is None, f"the node ended by itself:\n{self.last_words()}"
        self._process.kill()
        self._process.wait()
        self.kills += 1

    def token_of(self, account: str) -> str:
        """A token, made beside the running node as `odf admin` makes it."""
        state = load_state(DataDirectory(self.data_dir).state_file)
        url = f"postgresql+psycopg://{SUPERUSER}@/{DATABASE}?host={state.socket_dir}"

        async def make() -> str:
            engine = create_engine(DatabaseSettings.model_validate({"url": url}))
            try:
                await ensure_account(engine, account)
                return (await create_token(engine, account, "kills")).text
            finally:
                await engine.dispose()

        return asyncio.run(make())

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
