"""Files that the executors of a cluster can reach: by way of a folder on S3 (`spark.exchange`).

Executors on other machines do not see the caller's folders. So local files of a call are uploaded into a
folder of this call, results are written there and brought back, and the folder is removed at the end; files
that are named by an `s3a://` URL are read where they are. Without `spark.exchange` every path is used as it
is: executors are within the process, or all machines share the folders.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from odf_core.engines.exchange import REMOTE
from odf_core.engines.spark.committing import COMMITTER, COMMITTER_CONF

EXCHANGE_CONF = "spark.odf.exchange"
"""Under this name the session knows `SparkOptions.exchange`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the files of one call are for those who work on it; `results` come to lie in `output`."""

    session: SparkSession
    output: Path
    folder: str | None

    def brought(self, files: Iterable[str]) -> tuple[str, ...]:
        """The files under names that executors can read, in the same order."""
        if self.folder is None:
            return tuple(files)
        return tuple(self._uploaded(file) for file in files)

    def write(self, frame: DataFrame, **options: str) -> list[Path]:
        """Writes Parquet parts into `output`, which must not exist yet; gives them in the frame's order."""
        target = str(self.output) if self.folder is None else f"{self.folder}/results/{self.output.name}"
        frame.write.options(**options).parquet(target)
        if self.folder is not None:
            self._fetch(target)
        return sorted(self.output.glob("part-*.parquet"))

    def at(self, output: Path) -> "Place":
        """The same call with results elsewhere."""
        return replace(self, output=output)

    def _uploaded(self, file: str) -> str:
        if file.startswith(REMOTE):
            return file
        target = f"{self.folder}/inputs/{Path(file).name}"
        path, files = _path(self.session, target), _files(self.session, target)
        files.copyFromLocalFile(False, True, _path(self.session, f"file://{file}"), path)
        return target

    def _fetch(self, source: str) -> None:
        self.output.mkdir()
        files = _files(self.session, source)
        for status in files.listStatus(_path(self.session, source)):
            name = status.getPath().getName()
            if name.startswith("part-"):
                local = _path(self.session, f"file://{self.output / name}")
                files.copyToLocalFile(False, status.getPath(), local, True)


@contextmanager
def open_place(session: SparkSession, workdir: Path, output: Path) -> Iterator[Place]:
    """The place of the call whose folder is `workdir`; what is on S3 of it is removed at the end."""
    exchange = session.conf.get(EXCHANGE_CONF, "")
    if not exchange:
        yield Place(session, output, None)
        return
    folder = f"{exchange}/{workdir.name}"
    session.conf.set(COMMITTER_CONF, COMMITTER)
    try:
        yield Place(session, output, folder)
    finally:
        _files(session, folder).delete(_path(session, folder), True)


def _path(session: SparkSession, url: str) -> Any:
    jvm: Any = session._jvm
    return jvm.org.apache.hadoop.fs.Path(url)


def _files(session: SparkSession, url: str) -> Any:
    """Hadoop's file system of a URL."""
    java: Any = session._jsparkSession
    return _path(session, url).getFileSystem(java.sessionState().newHadoopConf())
