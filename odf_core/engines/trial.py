"""Preprocess queries tried out over no records, as far as that costs little: when a source is defined."""

import tempfile
from pathlib import Path

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.errors import Unavailable
from odf_core.ingest.merge_job import MergeJob, unpack_schema


class QuickTrials:
    """A `Trial`: queries for DataFusion are planned in this process; those for Spark by the `engine`, if it
    is warm. Nothing is started, and None as `engine` leaves Spark out altogether."""

    def __init__(self, engine: SparkEngine | None, deadline: float) -> None:
        self._engine = engine
        self._deadline = deadline

    def __call__(self, job: MergeJob) -> None:
        """Raises what a merge of no records raises for the job's queries and what they lead to."""
        if job.preprocess_engine.lower() == "datafusion":
            from odf_core.engines.datafusion.preprocess import preprocess

            with tempfile.TemporaryDirectory(prefix="odf-trial-") as folder:
                preprocess((), unpack_schema(job.input_schema), job.preprocess, Path(folder))
        elif self._engine is not None and self._engine.running():
            try:
                with SparkMerges(self._engine, self._deadline).merge(job):
                    return
            except Unavailable:
                return  # it was just ending, or is busy: the first ingest will tell
