"""Chains for tests, block by block, with real bytes and real hashes.

    blocks = chain().seed().schema().add_data(10).add_data(5, watermark="2024-01-02T00:00:00Z").blocks

Every method that adds a block returns the builder. What a block has to repeat from the blocks before it
(previous hash, sequence number, offset, checkpoint, watermark, inputs of a transform) is filled in; any
of it can be overridden, so that a wrong block is one argument away from a right one. `make` makes the
next block without adding it, `fork` copies the builder, so that two chains share their beginning.

The builder checks nothing: that is what the rules under test are for. Slices and checkpoints have
contents (`objects`), whose sizes and SHA3-256 stand in the blocks; the contents are no Parquet files
unless the caller gives such.
"""

import copy
import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from odf_core.identity import (
    ARROW0_SHA3_256,
    AccountName,
    DatasetAlias,
    DatasetId,
    DatasetName,
    Multihash,
    ObjectKind,
    ObjectRef,
)
from odf_core.metadata import (
    AddData,
    AddPushSource,
    AttachmentEmbedded,
    AttachmentsEmbedded,
    Checkpoint,
    DataField,
    DataSchema,
    DatasetKind,
    DataSlice,
    DataTypeInt32,
    DataTypeInt64,
    DataTypeOption,
    DataTypeString,
    DataTypeTimestamp,
    DisablePollingSource,
    DisablePushSource,
    ExecuteTransform,
    ExecuteTransformInput,
    FetchStepUrl,
    MergeStrategyAppend,
    MetadataBlock,
    MetadataEvent,
    OffsetInterval,
    ReadStepNdJson,
    Seed,
    SetAttachments,
    SetDataSchema,
    SetInfo,
    SetLicense,
    SetPollingSource,
    SetTransform,
    SetVocab,
    SourceState,
    SqlQueryStep,
    StoredBlock,
    Timestamp,
    TransformInput,
    TransformSql,
    make_block,
)

FIRST_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""System time of the first block; each next block is a second later."""

_UNSET: Any = object()
_SYSTEM_FIELDS = (
    DataField(name="offset", type=DataTypeInt64()),
    DataField(name="op", type=DataTypeInt32()),
    DataField(name="system_time", type=DataTypeTimestamp()),
    DataField(name="event_time", type=DataTypeTimestamp()),
)
CITY_FIELDS = (
    DataField(name="city", type=DataTypeString()),
    DataField(name="population", type=DataTypeOption(inner=DataTypeInt64())),
)
"""What `schema()` has after the system columns unless it is told otherwise."""


def chain(name: str = "test", **options: Any) -> "ChainBuilder":
    """An empty chain of the dataset whose id is derived from `name`."""
    return ChainBuilder(name, **options)


def dataset_id(name: str) -> DatasetId:
    """A dataset id that depends on nothing but `name` (at most 32 bytes)."""
    return DatasetId.from_name_seed(name)


def moment(text: str | Timestamp | None) -> Timestamp | None:
    """RFC 3339 text as a Timestamp; a Timestamp and None are left alone."""
    return Timestamp.parse(text) if isinstance(text, str) and not isinstance(text, Timestamp) else text


def schema_of(*fields: DataField, system: bool = True) -> DataSchema:
    """A schema of the given fields (`CITY_FIELDS` if none), after the four system columns."""
    return DataSchema(fields=(_SYSTEM_FIELDS if system else ()) + (fields or CITY_FIELDS))


class ChainBuilder:
    """See the module. `version` is the manifest version of the blocks, None for the usual one."""

    def __init__(self, name: str = "test", *, version: int | None = None) -> None:
        self.name = name
        self.version = version
        self.blocks: list[StoredBlock] = []
        self.objects: dict[ObjectRef, bytes] = {}
        """Contents of the slices and checkpoints, by their references as in `new_objects`."""

    # -- the chain so far

    @property
    def dataset_id(self) -> DatasetId:
        return dataset_id(self.name)

    @property
    def head(self) -> Multihash | None:
        return self.blocks[-1].hash if self.blocks else None

    @property
    def last(self) -> StoredBlock:
        return self.blocks[-1]

    def by_hash(self) -> dict[Multihash, StoredBlock]:
        """The blocks by their hashes; its `__getitem__` reads blocks for `walk_interval`."""
        return {block.hash: block for block in self.blocks}

    def files(self) -> dict[str, bytes]:
        """The dataset as files in the layout of the specification: name -> content, the head included."""
        folders = {ObjectKind.DATA_SLICE: "data", ObjectKind.CHECKPOINT: "checkpoints"}
        files = {f"blocks/{block.hash}": block.data for block in self.blocks}
        files |= {f"{folders[ref.kind]}/{ref.hash}": content for ref, content in self.objects.items()}
        return files | {"refs/head": str(self.head).encode()}

    def last_event(self, *kinds: type) -> Any:
        """The last event of one of the kinds, or None."""
        events = (block.block.event for block in reversed(self.blocks))
        return next((event for event in events if isinstance(event, kinds)), None)

    def fork(self) -> "ChainBuilder":
        """A copy that goes its own way from here."""
        other = copy.copy(self)
        other.blocks, other.objects = list(self.blocks), dict(self.objects)
        return other

    # -- any event

    def make(
        self,
        event: MetadataEvent,
        *,
        prev: Multihash | None = _UNSET,
        sequence_number: int | None = None,
        system_time: str | Timestamp | None = None,
    ) -> StoredBlock:
        """The block that would carry the event next; it is not added."""
        number = self.blocks[-1].block.sequence_number + 1 if self.blocks else 0
        if sequence_number is not None:
            number = sequence_number
        default_time = Timestamp.from_datetime(FIRST_TIME + timedelta(seconds=len(self.blocks)))
        block = MetadataBlock(
            system_time=moment(system_time) or default_time,
            prev_block_hash=self.head if prev is _UNSET else prev,
            sequence_number=number,
            event=event,
        )
        return make_block(block) if self.version is None else make_block(block, self.version)

    def event(self, event: MetadataEvent, **overrides: Any) -> "ChainBuilder":
        """Adds a block with the event; `overrides` as in `make`."""
        self.blocks.append(self.make(event, **overrides))
        return self

    def pop(self) -> StoredBlock:
        """Takes the last block off and returns it."""
        return self.blocks.pop()

    # -- definitions

    def seed(self, kind: str | DatasetKind = DatasetKind.ROOT, **overrides: Any) -> "ChainBuilder":
        """Adds the Seed; `kind` is "root" or "derivative"."""
        kind = DatasetKind[kind.upper()] if isinstance(kind, str) else kind
        return self.event(Seed(dataset_id=self.dataset_id, dataset_kind=kind), **overrides)

    def schema(
        self,
        *fields: DataField,
        schema: DataSchema | None = None,
        raw_arrow: bytes | None = None,
        **overrides: Any,
    ) -> "ChainBuilder":
        """Adds SetDataSchema: the system columns and `fields`, or a whole schema, or raw Arrow bytes."""
        if raw_arrow is not None:
            return self.event(SetDataSchema(raw_arrow_schema=raw_arrow), **overrides)
        return self.event(SetDataSchema(schema=schema or schema_of(*fields)), **overrides)

    def vocab(self, **columns: str) -> "ChainBuilder":
        return self.event(SetVocab(**columns))

    def info(self, description: str = "About something", keywords: Iterable[str] = ()) -> "ChainBuilder":
        return self.event(SetInfo(description=description, keywords=tuple(keywords) or None))

    def license(self, short_name: str = "CC0") -> "ChainBuilder":
        return self.event(
            SetLicense(short_name=short_name, name=f"{short_name} license", website_url="https://example.org")
        )

    def attachments(self, path: str = "README.md", content: str = "# Read me") -> "ChainBuilder":
        items = (AttachmentEmbedded(path=path, content=content),)
        return self.event(SetAttachments(attachments=AttachmentsEmbedded(items=items)))

    # -- sources

    def push_source(self, name: str = "default", **fields: Any) -> "ChainBuilder":
        """Adds AddPushSource; `fields` override those of a plain one."""
        plain: dict[str, Any] = {"read": ReadStepNdJson(), "merge": MergeStrategyAppend()}
        return self.event(AddPushSource(source_name=name, **(plain | fields)))

    def polling_source(self, url: str = "https://example.org/data", **fields: Any) -> "ChainBuilder":
        """Adds SetPollingSource; `fields` override those of a plain one."""
        plain: dict[str, Any] = {
            "fetch": FetchStepUrl(url=url),
            "read": ReadStepNdJson(),
            "merge": MergeStrategyAppend(),
        }
        return self.event(SetPollingSource(**(plain | fields)))

    def disable_push_source(self, name: str = "default") -> "ChainBuilder":
        return self.event(DisablePushSource(source_name=name))

    def disable_polling_source(self) -> "ChainBuilder":
        return self.event(DisablePollingSource())

    # -- data

    def add_data(
        self,
        records: int | None = 10,
        *,
        content: bytes | None = None,
        data_slice: DataSlice | None = None,
        checkpoint: bytes | None = None,
        watermark: str | Timestamp | None = _UNSET,
        source_state: str | None = None,
        fields: dict[str, Any] | None = None,
        **overrides: Any,
    ) -> "ChainBuilder":
        """Adds AddData with a slice of so many records (None or 0: no slice).

        `content` is the slice's file, or `data_slice` describes one that the caller keeps; `checkpoint`
        is the content of a new one (by default the last one is repeated); `fields` override the event's.
        """
        event = AddData(
            **self._data_fields(AddData, records, content, data_slice, checkpoint, watermark),
            new_source_state=(
                None
                if source_state is None
                else SourceState(source_name="default", kind="odf/etag", value=source_state)
            ),
        )
        return self.event(dataclasses.replace(event, **(fields or {})), **overrides)

    def transform(self, *inputs: str, **fields: Any) -> "ChainBuilder":
        """Adds SetTransform over the datasets of these names."""
        plain: dict[str, Any] = {
            "inputs": tuple(TransformInput(dataset_ref=dataset_id(name), alias=name) for name in inputs),
            "transform": TransformSql(engine="spark", queries=(SqlQueryStep(query="select * from input"),)),
        }
        return self.event(SetTransform(**(plain | fields)))

    def execute_transform(
        self,
        records: int | None = 10,
        *,
        inputs: Iterable[ExecuteTransformInput] | None = None,
        content: bytes | None = None,
        data_slice: DataSlice | None = None,
        checkpoint: bytes | None = None,
        watermark: str | Timestamp | None = _UNSET,
        fields: dict[str, Any] | None = None,
        **overrides: Any,
    ) -> "ChainBuilder":
        """Adds ExecuteTransform; each input advances by a block and ten records unless `inputs` are given."""
        event = ExecuteTransform(
            query_inputs=tuple(self.next_inputs() if inputs is None else inputs),
            **self._data_fields(ExecuteTransform, records, content, data_slice, checkpoint, watermark),
        )
        return self.event(dataclasses.replace(event, **(fields or {})), **overrides)

    def next_inputs(self, *, advance: bool = True) -> list[ExecuteTransformInput]:
        """Inputs that continue the last query, or begin those of the last SetTransform."""
        last = self.last_event(ExecuteTransform)
        if last is None:
            definition = self.last_event(SetTransform)
            starts = [ExecuteTransformInput(dataset_id=item.dataset_ref) for item in definition.inputs]
        else:
            starts = [
                ExecuteTransformInput(
                    dataset_id=item.dataset_id,
                    prev_block_hash=item.new_block_hash or item.prev_block_hash,
                    prev_offset=item.prev_offset if item.new_offset is None else item.new_offset,
                )
                for item in last.query_inputs
            ]
        return [self._advanced(start) if advance else start for start in starts]

    def _advanced(self, start: ExecuteTransformInput) -> ExecuteTransformInput:
        block = Multihash.sha3_256(f"{start.dataset_id} {start.prev_block_hash}".encode())
        offset = (-1 if start.prev_offset is None else start.prev_offset) + 10
        return dataclasses.replace(start, new_block_hash=block, new_offset=offset)

    def _data_fields(
        self,
        kind: type,
        records: int | None,
        content: bytes | None,
        data_slice: DataSlice | None,
        checkpoint: bytes | None,
        watermark: str | Timestamp | None,
    ) -> dict[str, Any]:
        last, last_of_kind = self.last_event(AddData, ExecuteTransform), self.last_event(kind)
        prev_offset = _last_offset(last)
        if data_slice is None and records:
            data_slice = self.slice(records, prev_offset, content)
        last_checkpoint = last_of_kind.new_checkpoint if last_of_kind is not None else None
        return {
            "prev_checkpoint": last_checkpoint.physical_hash if last_checkpoint is not None else None,
            "prev_offset": prev_offset,
            "new_data": data_slice,
            "new_checkpoint": last_checkpoint if checkpoint is None else self.checkpoint(checkpoint),
            "new_watermark": (last.new_watermark if last is not None else None)
            if watermark is _UNSET
            else moment(watermark),
        }

    def slice(self, records: int, prev_offset: int | None, content: bytes | None = None) -> DataSlice:
        """A slice that follows `prev_offset`; its content, invented if not given, is put into `objects`."""
        start = 0 if prev_offset is None else prev_offset + 1
        if content is None:
            content = f"{self.name}: records {start} to {start + records - 1}\n".encode()
        made = DataSlice(
            logical_hash=Multihash(ARROW0_SHA3_256, Multihash.sha3_256(b"logical" + content).digest),
            physical_hash=Multihash.sha3_256(content),
            offset_interval=OffsetInterval(start=start, end=start + records - 1),
            size=len(content),
        )
        self.objects[ObjectRef(ObjectKind.DATA_SLICE, made.physical_hash, made.size)] = content
        return made

    def checkpoint(self, content: bytes) -> Checkpoint:
        """A checkpoint of this content, which is put into `objects`."""
        made = Checkpoint(physical_hash=Multihash.sha3_256(content), size=len(content))
        self.objects[ObjectRef(ObjectKind.CHECKPOINT, made.physical_hash, made.size)] = content
        return made


def alias(name: str, account: str | None = None) -> DatasetAlias:
    """A reference by name, as in snapshots."""
    return DatasetAlias(AccountName(account) if account else None, DatasetName(name))


def _last_offset(event: AddData | ExecuteTransform | None) -> int | None:
    if event is None:
        return None
    return event.prev_offset if event.new_data is None else event.new_data.offset_interval.end
