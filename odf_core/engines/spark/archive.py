"""An archive of the classes that Spark loads, so that the next engine starts in half the time.

Java writes it from the running process, which stands still for some seconds meanwhile; so it is made
once, when the engine has answered a call and nobody has asked for a while. It belongs to one set of jars
and one Java; Java itself checks both again, and does without an archive that does not fit.
"""

import hashlib
import logging
import os
import subprocess
from pathlib import Path

from pyspark.sql import SparkSession

from odf_core.engines.java import Java
from odf_core.engines.spark.classpath import jars_digest
from odf_core.engines.spark.java_source import JavaHelper

_log = logging.getLogger(__name__)
_BASE_SECONDS = 120
_EDITION = "2"
"""Changes with what is rehearsed."""
_QUIET = ("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr", "-Xlog:cds=off")


class ClassArchive:
    """The archive's file in the cache, and the flags that use it or allow to make it."""

    def __init__(self, java: Java, jars: list[Path], cache: Path) -> None:
        told = hashlib.sha256(f"{_EDITION}:{java.home.resolve()}:{java.version}".encode()).hexdigest()[:16]
        self._file = cache / f"classes-{jars_digest(jars)}-{told}.jsa"
        self._base = None if _has_base(java) else _base(java, cache / f"base-{told}.jsa")
        self._wanted = not self._file.is_file()

    @property
    def wanted(self) -> bool:
        """Whether there was none when the engine started, and none has been made since."""
        return self._wanted

    def flags(self) -> tuple[str, ...]:
        """Flags for Java."""
        files = [str(path) for path in (self._base, None if self._wanted else self._file) if path is not None]
        named = (f"-XX:SharedArchiveFile={os.pathsep.join(files)}",) if files else ()
        return (*_QUIET, *named, *(("-XX:+RecordDynamicDumpInfo",) if self._wanted else ()))

    def make(self, session: SparkSession, scratch: Path) -> None:
        """Writes the archive, once; an engine without one is slower to start and nothing else."""
        self._wanted = False
        _rehearse(session.newSession(), scratch / "rehearsal")
        made = scratch / "classes.jsa"
        JavaHelper(session, "OdfArchive.java", "OdfArchive").call("dump", [str(made)])
        if made.is_file():
            made.replace(self._file)
            _log.info("The archive of classes %s has been made.", self._file.name)
        else:
            _log.warning("Java made no archive of classes; engines start without one.")


def _has_base(java: Java) -> bool:
    """Whether the Java came with an archive of its own classes, on which others are built."""
    return any((java.home / "lib" / "server").glob("*.jsa"))


def _base(java: Java, file: Path) -> Path | None:
    """An archive of the Java's own classes, made where it has none (that of the wheel); None if it cannot."""
    if file.is_file():
        return file
    made = file.with_name(f"{file.name}.{os.getpid()}")
    command = [str(java.binary), "-Xshare:dump", f"-XX:SharedArchiveFile={made}"]
    try:
        subprocess.run(  # noqa: S603
            command, env={}, stdout=subprocess.DEVNULL, check=True, timeout=_BASE_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        _log.warning("Java made no archive of its own classes: %s", error)
        return None
    made.replace(file)
    return file


def _rehearse(session: SparkSession, folder: Path) -> None:
    """Does once what ingests do, so that the classes for it are in the archive."""
    numbers = session.range(1000).selectExpr(
        "id", "id % 7 as k", "cast(id as double) v", "string(id) s", "timestamp_seconds(id) as t"
    )
    numbers.repartition(2).write.parquet(str(folder))
    read = session.read.parquet(str(folder))
    read.createOrReplaceTempView("n")
    rows = session.sql(
        "select k, s, v, t, row_number() over (partition by k order by t desc, id) as r from n "
        "where id not in (select id from n where k = 3) order by t"
    )
    rows.join(read.groupBy("k").count(), "k", "left_anti").unionByName(rows).coalesce(1).toArrow()
    session.createDataFrame(rows.limit(3).toArrow()).exceptAll(rows).collect()
