"""The engine as commands use it, and standard input as a file."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odf_core.engines.handle import SparkEngine
from odf_core.engines.installed import InstalledEngines
from odf_core.engines.merging import SparkMerges
from odf_core.engines.options import SparkOptions
from odf_core.engines.querying import SparkQueries
from odf_core.engines.trial import QuickTrials
from odf_core.ingest.merge_job import MergeJob
from odf_core.metadata import TransformSql
from odf_core.transform.port import TransformEngine


@contextmanager
def merge_engine() -> Iterator[SparkMerges]:
    """The Spark engine, started when it is needed and left warm."""
    options = SparkOptions.from_environment()
    yield SparkMerges(SparkEngine(options), options.call_seconds)


def query_engine() -> SparkQueries:
    """The same engine for queries."""
    options = SparkOptions.from_environment()
    return SparkQueries(SparkEngine(options), options.call_seconds)


def try_queries(job: MergeJob) -> None:
    """A `Trial` of the queries of a new source: by the same engine, if it is warm."""
    options = SparkOptions.from_environment()
    QuickTrials(SparkEngine(options), options.call_seconds)(job)


def choose_engine(transform: TransformSql) -> TransformEngine:
    """The engine, of the version, that a transform names. Raises `EngineNotInstalled`."""
    return InstalledEngines().choose(transform)


@contextmanager
def standard_input() -> Iterator[Path]:
    """What comes on standard input, in a file that goes away afterwards."""
    with tempfile.NamedTemporaryFile(prefix="odf-stdin-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)
