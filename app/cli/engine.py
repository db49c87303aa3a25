"""The engine as commands use it, and standard input as a file."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.options import SparkOptions
from odf_core.engines.querying import SparkQueries
from odf_core.engines.transforming import SparkTransforms
from odf_core.engines.trial import QuickTrials
from odf_core.ingest.merge_job import MergeJob
from odf_core.metadata import TransformSql
from odf_core.transform.errors import EngineNotInstalled
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
    """The engine that a transform names. Raises `EngineNotInstalled`."""
    options = SparkOptions.from_environment()
    engine = SparkTransforms(SparkEngine(options), options.call_seconds)
    if transform.engine.lower() != engine.name:
        raise EngineNotInstalled(
            f"The query is for the engine {transform.engine[:80]!r}; only {engine.name} is here.",
            objects=[transform.engine[:80]],
        )
    if transform.version not in (None, engine.version()):
        raise EngineNotInstalled(
            f"The query is for {engine.name} of the version {transform.version}; here is {engine.version()}.",
            objects=[transform.version],
        )
    return engine


@contextmanager
def standard_input() -> Iterator[Path]:
    """What comes on standard input, in a file that goes away afterwards."""
    with tempfile.NamedTemporaryFile(prefix="odf-stdin-") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        yield Path(file.name)
