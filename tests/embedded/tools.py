"""What the tests of embedded mode share. Not a test module."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from app.embedded import EmbeddedServices
from app.embedded.processes import command_line
from tests.services import S3Server

REPOSITORY = Path(__file__).resolve().parents[2]
NODE_PROCESS = Path(__file__).with_name("node_process.py")


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that must come; a minute is far beyond what any machine needs."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.01)


def connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True)


def s3_client(services: EmbeddedServices) -> Any:
    s3 = services.s3
    return S3Server(s3.endpoint, s3.region, s3.access_key_id, s3.secret_access_key, str(s3.root)).client()


def processes_naming(path: Path) -> dict[int, str]:
    """Processes, of whatever parent, whose command line names `path`; this one and its tests aside."""
    found = {}
    listed = subprocess.run(["ps", "-eo", "pid="], capture_output=True, text=True, check=True).stdout.split()
    for pid in map(int, listed):
        command = " ".join(command_line(pid) or ())
        if str(path) in command and pid != os.getpid() and NODE_PROCESS.name not in command:
            found[pid] = command
    return found


class NodeProcess:
    """A running `node_process.py`."""

    def __init__(self, data_dir: Path, tie: str = "exec", **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(NODE_PROCESS), str(data_dir), tie],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **options.pop("env", {})},
            **options,
        )
        assert self.process.stdout is not None
        self.facts: dict[str, Any] = json.loads(self.process.stdout.readline())

    def finish(self) -> str:
        """End its input, and what it printed until it ended."""
        output: str = self.process.communicate(timeout=120)[0]
        return output


@contextlib.contextmanager
def node_process(data_dir: Path, tie: str = "exec", **options: Any) -> Iterator[NodeProcess]:
    node = NodeProcess(data_dir, tie, **options)
    try:
        yield node
    finally:
        node.process.kill()
        node.process.communicate()
