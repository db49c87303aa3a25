"""A real `odf worker` in a process of its own, to be killed without warning; and settings that it needs."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.settings import Settings
from app.workers import worker_environment
from tests.running_node import settings_for
from tests.services import S3Bucket
from tests.spark_fixture import spark_environment

COMMAND = "from app.cli.main import main; main()"


def worker_settings(database_url: str, bucket: S3Bucket, folder: Path, **groups: Any) -> Settings:
    """Settings of a node and its worker, which shares the engine of the run and is quick to notice."""
    engine = spark_environment()
    given: dict[str, Any] = {
        "jobs": {
            "heartbeat_seconds": 0.2,
            "stalled_seconds": 1.5,
            "poll_seconds": 0.1,
            "scratch_dir": folder / "scratch",
            "max_attempts": 1000,
        },
        "spark": {
            "runtime_dir": engine["ODF_SPARK__RUNTIME_DIR"],
            "work_dir": engine["ODF_SPARK__WORK_DIR"],
            "idle_seconds": float(engine["ODF_SPARK__IDLE_SECONDS"]),
        },
        "ingest": {"wait_seconds": 150},
        "log": {"level": "info"},
    }
    for name, values in groups.items():
        given[name] = {**given.get(name, {}), **values}
    return settings_for(database_url, bucket, **given)


class WorkerProcess:
    """One worker; `start` and `kill` as often as wanted."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._settings, self.log = settings, log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environment = worker_environment(self._settings)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, "worker"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
            )

    def kill(self) -> None:
        """SIGKILL: nothing in the worker can react."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> int | None:
        """An orderly end; its exit status."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            return self._process.wait(30)
        return None

    def tell(self) -> str:
        """The end of its log."""
        return self.log.read_text()[-8000:] if self.log.exists() else ""


@contextmanager
def running_worker(settings: Settings, folder: Path, name: str = "worker") -> Iterator[WorkerProcess]:
    """A worker as long as the block lasts."""
    worker = WorkerProcess(settings, folder / f"{name}.log")
    worker.start()
    try:
        yield worker
    finally:
        worker.kill()
