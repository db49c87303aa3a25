"""Snapshots: a dataset as a person writes it down, before it has a history (metadata.md 5)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, NoReturn, TypeAlias

from odf_core.identity import DatasetAlias, DatasetId
from odf_core.metadata.block import StoredBlock, make_block
from odf_core.metadata.declare import TextForm
from odf_core.metadata.enums import DatasetKind
from odf_core.metadata.errors import InvalidSnapshot, MissingInputs
from odf_core.metadata.events import (
    AddData,
    AddPushSource,
    DisablePollingSource,
    DisablePushSource,
    ExecuteTransform,
    MetadataBlock,
    MetadataEvent,
    Seed,
    SetPollingSource,
    SetTransform,
    event_kind,
)
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.transforms import SqlQueryStep, Transform, TransformInput
from odf_core.metadata.versions import DEFAULT_MANIFEST_VERSION

AliasText: TypeAlias = Annotated[
    DatasetAlias, TextForm("DatasetAlias", DatasetAlias.parse, "Alias of a dataset: [account/]name")
]

ResolveInput: TypeAlias = Callable[[DatasetId | DatasetAlias], DatasetId | None]
"""Finds the dataset that an input names; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSnapshot:
    """Name, kind, and the events that follow the Seed."""

    name: AliasText
    kind: DatasetKind
    metadata: tuple[MetadataEvent, ...]


def snapshot_blocks(
    snapshot: DatasetSnapshot,
    dataset_id: DatasetId,
    system_time: Timestamp,
    resolve: ResolveInput,
    version: int = DEFAULT_MANIFEST_VERSION,
) -> list[StoredBlock]:
    """The chain that a snapshot becomes: the Seed, then its events, all of one system time.

    Raises what `snapshot_events` raises. The rules of the chain are for `odf_core.chain` to hold.
    """
    events = (Seed(dataset_id=dataset_id, dataset_kind=snapshot.kind), *snapshot_events(snapshot, resolve))
    blocks: list[StoredBlock] = []
    for number, event in enumerate(events):
        block = MetadataBlock(
            system_time=system_time,
            prev_block_hash=blocks[-1].hash if blocks else None,
            sequence_number=number,
            event=event,
        )
        blocks.append(make_block(block, version))
    return blocks


def snapshot_events(snapshot: DatasetSnapshot, resolve: ResolveInput) -> tuple[MetadataEvent, ...]:
    """The events in the form that blocks need: inputs resolved and named, queries as lists.

    Raises `InvalidSnapshot`, or `MissingInputs` with the inputs that `resolve` does not know; their
    `extras["place"]` are the steps to the event in the manifest.
    """
    events: list[MetadataEvent] = []
    for index, event in enumerate(snapshot.metadata):
        try:
            _check_source(event, snapshot.metadata[:index])
            events.append(_normalised(event, snapshot, resolve))
        except InvalidSnapshot as error:
            error.extras["place"] = ["content", "metadata", index]
            raise
    return tuple(events)


def _normalised(event: MetadataEvent, snapshot: DatasetSnapshot, resolve: ResolveInput) -> MetadataEvent:
    match event:
        case Seed():
            _refuse("the Seed is made with the dataset and may not be given")
        case AddData() | ExecuteTransform() | DisablePollingSource() | DisablePushSource():
            _refuse(f"{event_kind(event)} has no place before a dataset exists")
        case SetPollingSource() | AddPushSource():
            _require_kind(event, snapshot, DatasetKind.ROOT)
            preprocess = normalise_transform(event.preprocess) if event.preprocess is not None else None
            return replace(event, preprocess=preprocess)
        case SetTransform():
            _require_kind(event, snapshot, DatasetKind.DERIVATIVE)
            inputs = resolve_inputs(event.inputs, f"Snapshot {snapshot.name}", resolve)
            return replace(event, inputs=inputs, transform=normalise_transform(event.transform))
    return event


def _check_source(event: MetadataEvent, earlier: tuple[MetadataEvent, ...]) -> None:
    """A dataset is polled from one place, or pushed to under several names, but not both."""
    polled = any(isinstance(item, SetPollingSource) for item in earlier)
    pushed = [item.source_name for item in earlier if isinstance(item, AddPushSource)]
    match event:
        case SetPollingSource() if polled:
            _refuse("it has two polling sources; keep one SetPollingSource")
        case SetPollingSource() if pushed:
            _refuse("it has push sources and a polling source; keep SetPollingSource or AddPushSource")
        case AddPushSource() if polled:
            _refuse("it has a polling source and push sources; keep SetPollingSource or AddPushSource")
        case AddPushSource(source_name=name) if name in pushed:
            _refuse(f"it has two push sources of the name {name[:80]!r}; give each a name of its own")


def _require_kind(event: MetadataEvent, snapshot: DatasetSnapshot, kind: DatasetKind) -> None:
    if snapshot.kind is not kind:
        _refuse(f"{event_kind(event)} needs a dataset of kind {kind}, not {snapshot.kind}")


def resolve_inputs(
    inputs: tuple[TransformInput, ...], reader: str, resolve: ResolveInput
) -> tuple[TransformInput, ...]:
    """The inputs by identifier; one without an alias is called as it was referred to. `reader` is who
    reads them, for the sentence of `MissingInputs`."""
    found = [(item, resolve(item.dataset_ref)) for item in inputs]
    missing = [str(item.dataset_ref) for item, dataset_id in found if dataset_id is None]
    if missing:
        raise MissingInputs(
            f"{reader} reads datasets that do not exist: {', '.join(missing)}.",
            objects=missing,
        )
    return tuple(
        TransformInput(
            dataset_ref=dataset_id,
            alias=item.alias if item.alias is not None else str(item.dataset_ref),
        )
        for item, dataset_id in found
        if dataset_id is not None
    )


def _refuse(why: str) -> NoReturn:
    raise InvalidSnapshot(f"The snapshot cannot become a dataset: {why}.")


def normalise_transform(transform: Transform, refuse: Callable[[str], NoReturn] = _refuse) -> Transform:
    """The transformation with its `query` as the only one of `queries`. What is wrong with it goes to
    `refuse`, as a clause; by default it raises `InvalidSnapshot`."""
    if transform.query is not None:
        if transform.queries is not None:
            refuse("a transform may have 'query' or 'queries', but not both")
        return replace(transform, query=None, queries=(SqlQueryStep(query=transform.query),))
    if sum(step.alias is None for step in transform.queries or ()) > 1:
        refuse("only one query of a transform may be without an alias")
    return transform
