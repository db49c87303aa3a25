"""Merges by the Spark engine: files are handed over in an exchange folder, the only one it sees."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from odf_core.engines.handle import SparkEngine
from odf_core.ingest.merge_errors import EngineUnknown
from odf_core.ingest.merge_job import MergeJob, MergeOutcome, pack_schema, unpack_schema

MERGE = "merge"
"""The engine's name for this kind of request."""


class SparkMerges:
    """A `MergeEngine` on the Spark engine; each call has `deadline` seconds.

    A preprocess that was written for DataFusion runs there first, and Spark merges what it leaves.
    """

    def __init__(self, engine: SparkEngine, deadline: float) -> None:
        self._engine = engine
        self._deadline = deadline

    @contextmanager
    def merge(self, job: MergeJob) -> Iterator[MergeOutcome]:
        """As `MergeEngine.merge`; the parts are in the exchange folder while the context lasts."""
        with self._engine.exchange() as exchange:
            ready = _preprocessed(job, exchange.inputs)
            handed = msgspec.structs.replace(
                ready,
                input_files=exchange.handed(ready.input_files),
                history_files=exchange.handed(ready.history_files),
            )
            request = {"job": msgspec.to_builtins(handed), "output": str(exchange.folder / "merged")}
            reply = self._engine.run(MERGE, request, deadline=self._deadline)
            yield msgspec.convert(reply, MergeOutcome)


def _preprocessed(job: MergeJob, folder: Path) -> MergeJob:
    engine = job.preprocess_engine.lower()
    if not job.preprocess or engine == "spark":
        return job
    if engine != "datafusion":
        raise EngineUnknown(
            f"The preprocess query is for the engine {job.preprocess_engine!r}; only spark and datafusion "
            f"are here.",
            objects=[job.preprocess_engine],
        )
    from odf_core.engines.datafusion.preprocess import preprocess

    scratch = folder / "preprocess"
    scratch.mkdir()
    declared = unpack_schema(job.input_schema)
    files, schema = preprocess(job.input_files, declared, job.preprocess, scratch)
    return msgspec.structs.replace(
        job, input_files=files, input_schema=pack_schema(schema), preprocess=(), preprocess_engine="spark"
    )
