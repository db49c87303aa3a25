"""One step of a derivative dataset, as engines take it: the contract of the specification (data.md 4.3).

Declared in the vocabulary of the metadata, since it goes over the wire as FlatBuffers: the order of fields
is that of the slots. Paths are those that the engine sees.
"""

from dataclasses import dataclass

from odf_core.identity import DatasetId
from odf_core.metadata.declare import U64
from odf_core.metadata.events import OffsetInterval
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.transforms import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetVocabulary:
    """Names of the system columns; a coordinator fills all four."""

    offset_column: str | None = None
    operation_type_column: str | None = None
    system_time_column: str | None = None
    event_time_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """A watermark that was set in an input at a system time."""

    system_time: Timestamp
    event_time: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformRequestInput:
    """An input of a transformation; no interval where it has no new records."""

    dataset_id: DatasetId
    dataset_alias: str
    query_alias: str
    vocab: DatasetVocabulary
    offset_interval: OffsetInterval | None = None
    data_paths: tuple[str, ...]
    schema_file: str
    explicit_watermarks: tuple[Watermark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformRequest:
    """The next step of a derivative dataset."""

    dataset_id: DatasetId
    dataset_alias: str
    system_time: Timestamp
    vocab: DatasetVocabulary
    transform: Transform
    query_inputs: tuple[TransformRequestInput, ...]
    next_offset: U64
    prev_checkpoint_path: str | None = None
    new_checkpoint_path: str
    new_data_path: str
