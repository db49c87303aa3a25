"""An archive of the classes that Spark loads, so that the next engine starts in half the time.

Java writes it from the running process, which stands still for some seconds meanwhile; so it is made
once, when the engine has answered a call and nobody has asked for a while. It belongs to one set of jars
and one Java; Java itself checks both again, and does without an archive that does not fit.
"""

import hashlib
import logging
from pathlib import Path

from pyspark.sql import SparkSession

from odf_core.engines.java import Java
from odf_core.engines.spark.classpath import jars_digest
from odf_core.engines.spark.java_source import JavaHelper

_log = logging.getLogger(__name__)
_QUIET = ("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr")


class ClassArchive:
    """The archive's file in the cache, and the flags that use it or allow to make it."""

    def __init__(self, java: Java, jars: list[Path], cache: Path) -> None:
        told = hashlib.sha256(f"{java.home.resolve()}:{java.version}".encode()).hexdigest()[:16]
        self._file = cache / f"classes-{jars_digest(jars)}-{told}.jsa"
        self._wanted = not self._file.is_file()

    @property
    def wanted(self) -> bool:
        """Whether there was none when the engine started, and none has been made since."""
        return self._wanted

    def flags(self) -> tuple[str, ...]:
        """Flags for Java."""
        if self._wanted:
            return (*_QUIET, "-XX:+RecordDynamicDumpInfo")
        return (*_QUIET, f"-XX:SharedArchiveFile={self._file}")

    def make(self, session: SparkSession, scratch: Path) -> None:
        """Writes the archive, once; an engine without one is slower to start and nothing else."""
        self._wanted = False
        made = scratch / "classes.jsa"
        JavaHelper(session, "OdfArchive.java", "OdfArchive").call("dump", [str(made)])
        if made.is_file():
            made.replace(self._file)
            _log.info("The archive of classes %s has been made.", self._file.name)
        else:
            _log.warning("Java made no archive of classes; engines start without one.")
