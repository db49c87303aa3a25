"""The engine's process around the engine: options, folders, fences, the lock that says that it lives."""

import contextlib
import fcntl
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from odf_core.engines.folders import EngineFolders, engine_folders
from odf_core.engines.java import Java, find_java
from odf_core.engines.options import DEPLOYED_PORT, SparkOptions
from odf_core.engines.spark.surroundings import fence_engine
from odf_core.errors import OdfError

DEPLOYED_FOLDERS = (Path("/opt/engine"),)
"""Where deployed coordinators put files into a container (data.md 4.4)."""
FOR_EVER = 10.0**9

_log = logging.getLogger(__name__)


def run_detached(told: dict[str, Any], listening: int) -> int:
    """The engine of a handle: on its socket only, in a folder that the handle has made."""
    options = SparkOptions.from_json(told["options"])
    folders = EngineFolders(*(Path(told["folders"][name]) for name in ("runtime", "work", "cache")))
    java = Java(Path(told["java"]["home"]), told["java"]["version"])

    def report() -> None:
        os.write(listening, b"1")
        os.close(listening)

    return _run(options, folders, java, report)


def run_served(listen: str | None, folders: list[Path] | None) -> int:
    """The engine in the foreground, for coordinators that know its address."""
    given = SparkOptions.from_environment()
    options = SparkOptions.from_json(
        {
            **given.to_json(),
            "listen": listen or given.listen or f"0.0.0.0:{DEPLOYED_PORT}",
            "folders": [str(folder) for folder in folders or given.folders or DEPLOYED_FOLDERS],
            "idle_seconds": FOR_EVER,
        }
    )
    try:
        places = engine_folders(options)
        places.create()
        return _run(options, places, find_java(options.java_home), lambda: None)
    except OdfError as error:
        print(error.message, file=sys.stderr)  # noqa: T201  the command's only answer
        return 1


def _run(options: SparkOptions, folders: EngineFolders, java: Java, report: Callable[[], None]) -> int:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # PySpark's copy of each error
    with _alive(folders):
        _empty(folders.scratch)
        fence = fence_engine(options, folders, java)
        _log.info("Engine %d starts with Java %s; fences: %s.", os.getpid(), java.version, fence)
        from odf_core.engines.spark.engine import Engine  # behind the fences: PySpark and gRPC

        return Engine(options, folders, java, fence).run(report)


@contextlib.contextmanager
def _alive(folders: EngineFolders) -> Iterator[None]:
    """Holds the life lock, with what others need to know about this process in the state file."""
    descriptor = os.open(folders.life_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        folders.state.write_text(json.dumps({"pid": os.getpid(), "group": os.getpgid(0)}))
        yield
    finally:
        folders.state.unlink(missing_ok=True)
        folders.socket.unlink(missing_ok=True)
        os.close(descriptor)


def _empty(folder: Path) -> None:
    for found in folder.iterdir():
        if found.is_dir() and not found.is_symlink():
            shutil.rmtree(found, ignore_errors=True)
        else:
            found.unlink(missing_ok=True)
