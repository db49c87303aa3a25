"""One round of an ingest: records that were read become the blocks of one commit (data.md 3.3 to 3.8).

Nothing of the dataset is changed here: the caller appends the blocks, by compare-and-swap.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from odf_core.chain.following import chained
from odf_core.data import odf_schema_to_arrow
from odf_core.identity import ObjectRef
from odf_core.ingest.commit import IngestCommit, data_events, objects_of
from odf_core.ingest.history import History, require_readable, require_system_columns
from odf_core.ingest.links import ObjectSize, link_columns, linked_objects, with_attributes
from odf_core.ingest.merge_job import (
    MergeEngine,
    MergeJob,
    QueryStep,
    Strategy,
    StrategyKind,
    pack_schema,
    unpack_schema,
)
from odf_core.ingest.null_rows import telling_rows
from odf_core.ingest.slice_schema import slice_schema
from odf_core.ingest.values import StagedInput
from odf_core.ingest.write import SliceTimes, write_new_slice
from odf_core.metadata import (
    DataSchema,
    MergeStrategy,
    MergeStrategyAppend,
    MergeStrategySnapshot,
    MetadataEvent,
    SourceState,
    Transform,
)

LocateObject: TypeAlias = Callable[[ObjectRef], Path | str]
"""The local file of an object, or the URL at which the engine reads it; raises what its store raises."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round ingests: records (None: the source had no columns even), how, and when.

    `first` are events that come before those of the data, where there are such.
    """

    staged: StagedInput | None
    merge: MergeStrategy
    preprocess: Transform | None
    times: SliceTimes
    source_state: SourceState | None = None
    first: tuple[MetadataEvent, ...] = ()
    declared: DataSchema | None = None
    """The schema of the read step, where it is one of ODF."""


def run_round(
    work: Round,
    history: History,
    engine: MergeEngine,
    locate: LocateObject,
    size_of: ObjectSize,
    workdir: Path,
) -> IngestCommit | None:
    """The blocks that `work` adds to a dataset of this `history`; None where it adds nothing.

    The new slice lies in `workdir` until the caller has placed it. Raises what the engine raises,
    `IncompatibleSchema`, `UnexpectedNulls`, `LinkColumnUnsupported`, `LinkMalformed`, `LinkDangling`;
    `workdir` may then hold a file.
    """
    schema, new, extra = history.schema, None, None
    require_system_columns(history)
    if work.staged is not None:
        job = _job(work, work.staged, history, locate)
        with engine.merge(job) as outcome:
            schema = slice_schema(unpack_schema(outcome.schema), history.names, history.schema)
            if history.schema is None:
                schema = with_attributes(schema, work.declared)
            links = link_columns(schema)
            last = history.projection.last_offset
            first_offset = 0 if last is None else last + 1
            with telling_rows(work.staged if work.preprocess is None else None):
                new = write_new_slice(
                    outcome.parts, schema, history.names, work.times, first_offset, workdir / "slice"
                )
        if new is not None and links:
            extra = linked_objects(new.written.path, links, history.names.offset, size_of).to_extra()
    events = data_events(
        history.projection, schema=schema, new=new, source_state=work.source_state, extra=extra
    )
    if not events:
        return None
    blocks = chained(history.projection, (*work.first, *events), work.times.system_time)
    return IngestCommit(blocks, objects_of(new), new.written.num_rows if new is not None else 0)


def strategy_of(merge: MergeStrategy) -> Strategy:
    """The strategy as engines take it."""
    kind: StrategyKind = type(merge).__name__.removeprefix("MergeStrategy")  # type: ignore[assignment]
    return Strategy(
        kind=kind,
        primary_key=() if isinstance(merge, MergeStrategyAppend) else tuple(merge.primary_key),
        compare_columns=merge.compare_columns if isinstance(merge, MergeStrategySnapshot) else None,
    )


def _job(work: Round, staged: StagedInput, history: History, locate: LocateObject) -> MergeJob:
    strategy = strategy_of(work.merge)
    files: tuple[str, ...] = ()
    if strategy.kind in ("Ledger", "Snapshot", "UpsertStream"):
        require_readable(history)
        files = tuple(str(locate(ref)) for ref in history.slices)
    declared = history.schema
    return MergeJob(
        input_files=tuple(str(path) for path in staged.files),
        input_schema=pack_schema(staged.schema),
        num_records=staged.num_records,
        strategy=strategy,
        names=history.names,
        preprocess=steps_of(work.preprocess),
        preprocess_engine=work.preprocess.engine if work.preprocess is not None else "spark",
        history_files=files,
        history_schema=pack_schema(odf_schema_to_arrow(declared)) if declared is not None else None,
    )


def steps_of(transform: Transform | None) -> tuple[QueryStep, ...]:
    """The queries as engines take them."""
    if transform is None:
        return ()
    if transform.query is not None:
        return (QueryStep(query=transform.query),)
    return tuple(QueryStep(query=step.query, alias=step.alias) for step in transform.queries or ())
