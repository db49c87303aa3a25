"""The events of a dataset's history and the block that carries one (metadata.md 1)."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.identity import DatasetId, Multihash
from odf_core.metadata.declare import U64, FormerName, UnionOf, members_of
from odf_core.metadata.enums import DatasetKind
from odf_core.metadata.extra import ExtraAttributes
from odf_core.metadata.read_steps import ReadStep
from odf_core.metadata.schema_types import DataSchema
from odf_core.metadata.sources import FetchStep, MergeStrategy, PrepStep
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.transforms import Transform, TransformInput


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetInterval:
    """Offsets of the first and the last record: both belong to the interval."""

    start: U64
    end: U64


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSlice:
    """A file of records: its hashes, the offsets of its records, its size in bytes."""

    logical_hash: Multihash
    physical_hash: Multihash
    offset_interval: OffsetInterval
    size: U64


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """An opaque file with an engine's state: its hash and size in bytes."""

    physical_hash: Multihash
    size: U64


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """How far a source has been read, in a form that only its kind understands."""

    source_name: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddData:
    """Records that a root dataset gained, or an advance of watermark or source state."""

    prev_checkpoint: Multihash | None = None
    prev_offset: U64 | None = None
    new_data: DataSlice | None = None
    new_checkpoint: Checkpoint | None = None
    new_watermark: Timestamp | None = None
    new_source_state: SourceState | None = None
    extra: ExtraAttributes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteTransformInput:
    """Which blocks and records of one input a transformation read; `prev_*` are those read before."""

    dataset_id: DatasetId
    prev_block_hash: Multihash | None = None
    new_block_hash: Multihash | None = None
    prev_offset: U64 | None = None
    new_offset: U64 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteTransform:
    """Records that a derivative dataset gained from its inputs."""

    query_inputs: tuple[ExecuteTransformInput, ...]
    prev_checkpoint: Multihash | None = None
    prev_offset: U64 | None = None
    new_data: DataSlice | None = None
    new_checkpoint: Checkpoint | None = None
    new_watermark: Timestamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """The first event: the identity of the dataset."""

    dataset_id: DatasetId
    dataset_kind: DatasetKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPollingSource:
    """How new data are polled for."""

    fetch: FetchStep
    prepare: tuple[PrepStep, ...] | None = None
    read: ReadStep
    preprocess: Transform | None = None
    merge: MergeStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class SetTransform:
    """How a derivative dataset follows from its inputs."""

    inputs: tuple[TransformInput, ...]
    transform: Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class SetVocab:
    """Names of the system columns, where they are not the usual ones."""

    offset_column: str | None = None
    operation_type_column: str | None = None
    system_time_column: str | None = None
    event_time_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentEmbedded:
    """A text file within the metadata."""

    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentsEmbedded:
    """Files whose content stands in the event."""

    items: tuple[AttachmentEmbedded, ...]


Attachments: TypeAlias = Annotated[AttachmentsEmbedded, UnionOf("Attachments", prefix="Attachments")]
"""Files that accompany a dataset, such as its README."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAttachments:
    """The files that accompany the dataset from now on."""

    attachments: Attachments


@dataclass(frozen=True, slots=True, kw_only=True)
class SetInfo:
    """Description and keywords for people and search."""

    description: str | None = None
    keywords: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLicense:
    """On which terms the data are given."""

    short_name: str
    name: str
    spdx_id: str | None = None
    website_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDataSchema:
    """The schema of the records from now on: as an Arrow schema's bytes (ODF 0.36) or as an ODF schema."""

    raw_arrow_schema: Annotated[bytes | None, FormerName("schema", str)] = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPushSource:
    """A named source to which data are pushed."""

    source_name: str
    read: ReadStep
    preprocess: Transform | None = None
    merge: MergeStrategy


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablePushSource:
    """Ends a push source."""

    source_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisablePollingSource:
    """Ends the polling source."""


MetadataEvent: TypeAlias = Annotated[
    AddData
    | ExecuteTransform
    | Seed
    | SetPollingSource
    | SetTransform
    | SetVocab
    | SetAttachments
    | SetInfo
    | SetLicense
    | SetDataSchema
    | AddPushSource
    | DisablePushSource
    | DisablePollingSource,
    UnionOf("MetadataEvent", prefix=""),
]
"""What a block says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataBlock:
    """One event, when it was recorded, and the block before it (None for the Seed)."""

    system_time: Timestamp
    prev_block_hash: Multihash | None = None
    sequence_number: U64
    event: MetadataEvent


EVENT_TYPE: dict[str, int] = {
    member.__name__: number for number, member in enumerate(members_of(MetadataEvent), start=1)
}
"""Number of each kind of event in the FlatBuffers union, by its name."""


def event_kind(event: MetadataEvent) -> str:
    """The event's kind as manifests write it: `AddData`, `Seed` …"""
    return type(event).__name__
