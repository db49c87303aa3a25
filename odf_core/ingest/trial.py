"""A source tried out by an engine, over no records: what its queries make of the columns it reads."""

from collections.abc import Callable
from typing import TypeAlias

from odf_core.chain import Vocabulary
from odf_core.errors import InvalidInput
from odf_core.ingest.history import names_of
from odf_core.ingest.merge_errors import MergeKeyMissing
from odf_core.ingest.merge_job import MergeJob, pack_schema
from odf_core.ingest.read import declared_schema
from odf_core.ingest.round import steps_of, strategy_of
from odf_core.metadata import AddPushSource, SetPollingSource

Trial: TypeAlias = Callable[[MergeJob], None]
"""Merges nothing, and raises what a merge raises; or returns where that would cost too much now."""


def try_source(source: SetPollingSource | AddPushSource, vocabulary: Vocabulary, trial: Trial | None) -> None:
    """Raise what is wrong with the preprocess queries of a source that declares a read schema; without one
    only an ingest knows the columns. `extras["place"]` has the steps from the event to the fault."""
    columns = declared_schema(source.read)
    if trial is None or source.preprocess is None or columns is None:
        return
    job = MergeJob(
        input_files=(),
        input_schema=pack_schema(columns),
        num_records=0,
        strategy=strategy_of(source.merge),
        names=names_of(vocabulary),
        preprocess=steps_of(source.preprocess),
        preprocess_engine=source.preprocess.engine,
    )
    try:
        trial(job)
    except InvalidInput as error:
        error.extras["place"] = ["merge" if isinstance(error, MergeKeyMissing) else "preprocess"]
        raise
