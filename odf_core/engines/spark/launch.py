"""Starts the JVM of the engine and waits until PySpark can speak to it (spark.md 5 and 9).

PySpark's own launcher asks a second Java for the command line, hands the environment on and demands a
module that small Javas lack; this one does neither. The JVM ends with the process that started it: its
standard input closes, and Linux kills it should it not heed that.
"""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odf_core.engines.errors import EngineStartFailed
from odf_core.engines.java import Java

_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
_FLAGS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:-UsePerfData",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Duser.timezone=UTC",
    "-Duser.language=en",
    "-Duser.country=US",
    "-Dfile.encoding=UTF-8",
)


@dataclass(frozen=True, slots=True)
class JvmSpec:
    """What to start: a Java, its class path, its heap, its own folder, and flags of class archives."""

    java: Java
    spark_home: Path
    jars: Sequence[Path]
    memory: str
    scratch: Path
    local: bool = True
    archive_flags: tuple[str, ...] = ()
    submitted: tuple[tuple[str, str], ...] = ()
    """Settings that are needed before there is a session: packages to fetch, jars to load."""

    def command(self) -> list[str]:
        """The command line."""
        here = Path(__file__).parent
        return [
            str(self.java.binary),
            *_FLAGS,
            *self.archive_flags,
            f"-Xmx{self.memory}",
            f"-Djava.io.tmpdir={self.scratch}",
            f"-Duser.home={self.scratch}",
            f"-Dlog4j2.configurationFile={here / 'log4j2.properties'}",
            "-cp",
            os.pathsep.join(str(jar) for jar in self.jars),
            "org.apache.spark.deploy.SparkSubmit",
            *(part for name, value in self.submitted for part in ("--conf", f"{name}={value}")),
            "pyspark-shell",
        ]

    def environment(self, connection: Path) -> dict[str, str]:
        """All that the JVM sees of an environment: a query that gets at it finds nothing of its user."""
        found = {
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection),
            "HOME": str(self.scratch),
            "LANG": "C.UTF-8",
            "LOCAL_DIRS": str(self.scratch),  # where S3A keeps what it is about to upload
            "PATH": "/usr/bin:/bin",
            "SPARK_CONNECT_MODE": "0",
            "SPARK_HOME": str(self.spark_home),
            "SPARK_LOCAL_DIRS": str(self.scratch),
            "SPARK_SCALA_VERSION": "2.13",
            "TMPDIR": str(self.scratch),
        }
        return {**found, "SPARK_LOCAL_IP": "127.0.0.1"} if self.local else found


class Jvm:
    """A running JVM with an open gateway for py4j; made in the main thread of the engine's process."""

    def __init__(self, spec: JvmSpec) -> None:
        self._connection = spec.scratch / "gateway"
        self._connection.unlink(missing_ok=True)
        self._process = subprocess.Popen(  # noqa: S603
            spec.command(),
            stdin=subprocess.PIPE,
            stdout=sys.stderr.fileno(),
            stderr=sys.stderr.fileno(),
            env=spec.environment(self._connection),
            cwd=spec.scratch,
            preexec_fn=_die_with_parent,
        )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def gateway(self, patience: float) -> tuple[int, str]:
        """Port and secret of the gateway, waited for up to `patience` seconds; raises `EngineStartFailed`."""
        deadline = time.monotonic() + patience
        while not self._connection.is_file():
            if self._process.poll() is not None:
                raise EngineStartFailed(
                    f"Java ended with status {self._process.returncode} before Spark could be reached."
                )
            if time.monotonic() > deadline:
                raise EngineStartFailed(f"Java did not open its gateway within {patience:.0f} s.")
            time.sleep(_POLL_SECONDS)
        told = self._connection.read_bytes()  # written under another name first, then renamed
        self._connection.unlink()
        port, length = struct.unpack_from(">ii", told)
        return port, told[8 : 8 + length].decode()

    def hand_to_pyspark(self, patience: float) -> None:
        """Makes PySpark of this process use the gateway."""
        port, secret = self.gateway(patience)
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret

    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self, patience: float) -> None:
        """Ends it in order by closing its input, and by force after `patience` seconds."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _die_with_parent() -> None:
    """Runs in the child before Java does: no Ctrl-C for it, and on Linux no life without its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
