"""One engine: its Java, its server and its calls, from the first to the last moment.

The server listens before Spark is there, so that callers see that something happens; calls wait for it.
"""

import logging
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import grpc
import pyarrow
import pyspark

from odf_core.engines.contract import PROTOCOL
from odf_core.engines.errors import EngineStartFailed
from odf_core.engines.folders import EngineFolders
from odf_core.engines.identity import spark_identity
from odf_core.engines.java import Java
from odf_core.engines.options import SparkOptions
from odf_core.engines.sandbox import Fence
from odf_core.engines.spark.archive import ClassArchive
from odf_core.engines.spark.bounded_log import bound_log, last_words
from odf_core.engines.spark.calls import Calls
from odf_core.engines.spark.classpath import engine_jars
from odf_core.engines.spark.committing import send_committer
from odf_core.engines.spark.engine_service import EngineService
from odf_core.engines.spark.gates.check import prepare
from odf_core.engines.spark.handlers import load
from odf_core.engines.spark.launch import Jvm, JvmSpec
from odf_core.engines.spark.runner import Runner
from odf_core.engines.spark.session import build_session, submitted_conf
from odf_core.engines.spark.slices_service import SlicesService
from odf_core.engines.wire import channel_options

_log = logging.getLogger(__name__)
_TICK_SECONDS = 0.25
_STOP_SECONDS = 10
_LAST_SECONDS = 5
"""How long an engine that could not start stays to say so to the first caller."""
_QUIET_SECONDS = 20
"""How long nobody has asked for anything before the archive of classes is made."""


class Engine:
    """Everything between the fences and the exit; used from the main thread."""

    def __init__(self, options: SparkOptions, folders: EngineFolders, java: Java, fence: Fence) -> None:
        self._options = options
        self._folders = folders
        spark_home = _spark_home()
        jars = engine_jars(spark_home)
        self._archive = ClassArchive(java, jars, folders.cache)
        self._spec = JvmSpec(
            java=java,
            spark_home=spark_home,
            jars=jars,
            memory=options.memory,
            scratch=folders.scratch,
            local=options.local,
            archive_flags=self._archive.flags(),
            submitted=submitted_conf(options, folders.cache),
        )
        self._info = {
            "engine": "spark",
            "protocol": PROTOCOL,
            "identity": spark_identity(),
            "version": pyspark.__version__,
            "pyarrow": pyarrow.__version__,
            "pid": os.getpid(),
            "java": java.version,
            "master": options.master,
            "fence": fence.to_json(),
        }
        self._calls = Calls(options.calls, folders.scratch)
        self._runner = Runner(self._calls, options.calls)
        self._stop = threading.Event()
        self._starting = False

    def run(self, report: Callable[[], None]) -> int:
        """Serves until it is told to stop or has nothing to do; `report` is called when it listens."""
        signal.signal(signal.SIGTERM, self._terminate)
        jvm = Jvm(self._spec)  # before the first thread: it is forked
        server = self._listen()
        report()
        try:
            return self._serve(jvm)
        finally:
            self._calls.fail("The engine was stopped before Spark had started.")
            self._folders.socket.unlink(missing_ok=True)
            server.stop(grace=_STOP_SECONDS if jvm.running() else 1).wait()
            jvm.stop(_STOP_SECONDS)
            _log.info("Engine %d ends.", os.getpid())

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM: a start is broken off, calls get a while to end."""
        self._stop.set()
        if self._starting:
            raise _Stopped

    def _listen(self) -> grpc.Server:
        threads = ThreadPoolExecutor(self._options.calls + 4, thread_name_prefix="grpc")
        server = grpc.server(threads, options=channel_options(self._options.message_bytes))
        server.add_generic_rpc_handlers(
            (
                SlicesService(self._calls, self._runner, self._info).handler(),
                EngineService(self._calls, self._runner).handler(),
            )
        )
        self._folders.socket.unlink(missing_ok=True)
        for address in (f"unix:{self._folders.socket}", self._options.listen):
            if address is not None:
                _bind(server, address)
        server.start()
        return server

    def _serve(self, jvm: Jvm) -> int:
        try:
            self._starting = True
            jvm.hand_to_pyspark(self._options.start_seconds)
            session = build_session(self._options, self._folders.scratch)
            if self._options.exchange is not None:
                send_committer(session, self._folders.scratch)
            load(self._options.handler_modules)
            prepare(session)
        except EngineStartFailed as error:
            words = _log_words()
            _log.error("%s", error.message)
            self._calls.fail(f"{error.message} The log's last words: {words}")
            self._calls.wait_for_an_answer(_LAST_SECONDS)
            return 1
        except _Stopped:
            return 0
        self._starting = False
        self._calls.begin(session)
        _log.info("Spark %s is there.", session.version)
        while not self._stop.wait(_TICK_SECONDS):
            if not jvm.running():
                _log.error("Java ended; so does the engine.")
                return 1
            if self._calls.close_if_idle(self._options.idle_seconds):
                _log.info("Nobody has asked for anything for %.0f s.", self._options.idle_seconds)
                return 0
            self._upkeep(session)
        return 0

    def _upkeep(self, session: Any) -> None:
        if stat.S_ISREG(os.fstat(sys.stderr.fileno()).st_mode):
            bound_log(sys.stderr.fileno())
        self._runner.end_abandoned()
        if self._archive.wanted and self._calls.answered and self._calls.idle_for() > _QUIET_SECONDS:
            self._archive.make(session, self._folders.scratch)


class _Stopped(Exception):
    """The engine was told to end while it started."""


def _log_words() -> str:
    """What the log ends with, where standard error is a file."""
    descriptor = sys.stderr.fileno()
    return last_words(descriptor) if stat.S_ISREG(os.fstat(descriptor).st_mode) else "(see there)"


def _bind(server: grpc.Server, address: str) -> None:
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise EngineStartFailed(
            f"The engine cannot listen on {address}: {error}.", objects=[address]
        ) from error
    if port == 0 and not address.startswith("unix:"):
        raise EngineStartFailed(f"The engine cannot listen on {address}.", objects=[address])


def _spark_home() -> Path:
    """Where PySpark is installed (it is not imported for that)."""
    found = find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise EngineStartFailed("PySpark is not installed.")
    return Path(found.submodule_search_locations[0])
