"""Metadata of a dataset that exists, changed by hand: events become blocks, or are refused with their line.

Nothing of the dataset is changed here: the caller appends the blocks, by compare-and-swap.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import pyarrow as pa

from odf_core.chain import BlockRefused, ChainState, NoOpEvent, Projection
from odf_core.data import declared_schema, odf_schema_to_arrow
from odf_core.errors import InvalidInput
from odf_core.identity import Multihash
from odf_core.ingest.evolution_rules import (
    EventRefused,
    check_change,
    normalised,
    stands_already,
)
from odf_core.ingest.history import names_of
from odf_core.ingest.merge_errors import IncompatibleSchema
from odf_core.ingest.slice_schema import slice_schema
from odf_core.ingest.source_check import Source, check_source, columns_of
from odf_core.ingest.trial import Trial, try_source
from odf_core.metadata import (
    AddPushSource,
    DataSchema,
    MetadataBlock,
    MetadataEvent,
    PlacedEvent,
    SetDataSchema,
    SetPollingSource,
    SetTransform,
    SetVocab,
    StoredBlock,
    Timestamp,
    make_block,
)
from odf_core.metadata.snapshot import ResolveInput


class Accepted(Protocol):
    """A transformation as the chain may have it, and sentences for whoever wrote it."""

    @property
    def event(self) -> SetTransform: ...

    @property
    def notes(self) -> tuple[str, ...]: ...


Accept: TypeAlias = Callable[[SetTransform, Projection], Accepted]
"""Has a transformation tried by its engine before it follows in a chain; raises what is wrong with it."""


@dataclass(frozen=True, slots=True)
class EvolutionStep:
    """One event as it was asked for, and the block that it became; None: the dataset said so already."""

    event: MetadataEvent
    block: StoredBlock | None


@dataclass(frozen=True, slots=True)
class Evolution:
    """What events make of a dataset. `notes` are sentences about what may be forgotten."""

    steps: tuple[EvolutionStep, ...]
    notes: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[StoredBlock, ...]:
        """The blocks to append, oldest first; none where nothing changes."""
        return tuple(step.block for step in self.steps if step.block is not None)


@dataclass(slots=True)
class _Chain:
    """The dataset while it evolves."""

    state: ChainState
    at: Projection
    system_time: Timestamp
    accept: Accept | None = None
    steps: list[EvolutionStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, event: MetadataEvent) -> None:
        """Raises `EventRefused`, `UnsupportedArrowType`, what `accept` raises."""
        if isinstance(event, SetTransform) and self.accept is not None:
            accepted = self.accept(event, self.at)
            event = accepted.event
            self.notes.extend(accepted.notes)
        block = None
        if not stands_already(event, self.at):
            check_change(event, self.at)
            block = self._appended(event)
        self.steps.append(EvolutionStep(event, block))

    def _appended(self, event: MetadataEvent) -> StoredBlock | None:
        number = self.state.sequence_number
        block = make_block(
            MetadataBlock(
                system_time=self.system_time,
                prev_block_hash=self.state.head,
                sequence_number=0 if number is None else number + 1,
                event=event,
            )
        )
        try:
            self.state.append(block)
        except NoOpEvent:
            return None
        except BlockRefused as error:
            raise EventRefused(_of_event(error.message, block.hash), extras={"rule": error.rule}) from error
        self.at.feed(block)
        return block


def evolve(
    known: Sequence[StoredBlock],
    events: Sequence[PlacedEvent],
    system_time: Timestamp,
    resolve: ResolveInput,
    trial: Trial | None = None,
    accept: Accept | None = None,
) -> Evolution:
    """The blocks by which `events`, in their order, follow the chain that `known` key blocks stand for
    (`ChainState.resume`); all are of `system_time`. `resolve` finds the inputs of transforms; `trial` tries
    queries of new sources, `accept` transformations.

    Raises, told with source and line of the event: `EventRefused`, `MissingInputs`, what `check_source`
    and `try_source` raise for a source that is set, or `EventRefused` for one that a new vocabulary breaks,
    `UnsupportedArrowType`, and what `accept` raises.
    """
    state = ChainState.resume(known, remember_hashes=False)
    chain = _Chain(state, Projection.of(known), system_time, accept)
    for item in events:
        with item.telling():
            chain.take(normalised(item.event, chain.at, resolve))
    for item, step in zip(events, chain.steps, strict=True):
        with item.telling():
            _check_sources(step, chain.at, trial)
    return Evolution(tuple(chain.steps), (*chain.notes, *_notes(chain)))


def _check_sources(step: EvolutionStep, at: Projection, trial: Trial | None) -> None:
    """A source that this commit sets, and all where it renames the columns that they must not have."""
    if step.block is None:
        return
    if isinstance(step.event, SetPollingSource | AddPushSource):
        check_source(step.event, at.vocabulary)
        try_source(step.event, at.vocabulary, trial)
    elif isinstance(step.event, SetVocab):
        for source in _sources(at):
            try:
                check_source(source, at.vocabulary)
            except InvalidInput as error:
                raise EventRefused(
                    f"With this vocabulary nothing could come through {_called(source)} any more: "
                    f"{error.message}",
                    objects=error.objects,
                ) from error


def _notes(chain: _Chain) -> Iterator[str]:
    """Where a source and the schema, of which one is new, do not fit together."""
    changed = [step.event for step in chain.steps if step.block is not None]
    schema = declared_schema(chain.at.schema)
    if schema is None:
        return
    has_new_schema = any(isinstance(event, SetDataSchema) for event in changed)
    for source in _sources(chain.at):
        if has_new_schema or source in changed:
            why = _misfit(source, schema, chain.at)
            if why is not None:
                yield (
                    f"{_called(source)} does not fit the dataset's schema: {why}; ingests through it are "
                    "refused until SetDataSchema or the source's read schema is changed"
                )


def _misfit(source: Source, schema: DataSchema, at: Projection) -> str | None:
    columns, names = columns_of(source), names_of(at.vocabulary)
    if columns is None:
        return None
    fields = [item for item in columns if item.name != names.operation_type]
    if names.event_time not in columns.names:
        fields += [item for item in odf_schema_to_arrow(schema) if item.name == names.event_time]
    if not any(item.name == names.event_time for item in fields):
        return f"it has no column {names.event_time}"
    try:
        slice_schema(pa.schema(fields), names, schema)
    except IncompatibleSchema as error:
        return "; ".join(error.extras["differences"])
    return None


def _sources(at: Projection) -> list[Source]:
    polling = [at.polling_source] if at.polling_source is not None else []
    return [*polling, *at.push_sources.values()]


def _called(source: Source) -> str:
    if isinstance(source, AddPushSource):
        return f"the push source {source.source_name!r}"
    return "the polling source"


def _of_event(message: str, block: Multihash) -> str:
    """A sentence about a block that was never written, as one about its event."""
    return message.replace(f"Block {block}", "The event").replace(f"block {block}", "the event")
