"""The current state of a dataset, projected from its blocks."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from odf_core.chain.data_rules import last_offset
from odf_core.identity import Multihash
from odf_core.metadata import (
    AddData,
    AddPushSource,
    Checkpoint,
    DisablePollingSource,
    DisablePushSource,
    ExecuteTransform,
    MetadataEvent,
    Seed,
    SetAttachments,
    SetDataSchema,
    SetInfo,
    SetLicense,
    SetPollingSource,
    SetTransform,
    SetVocab,
    StoredBlock,
    Timestamp,
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Names of the system columns; the defaults are those of the specification (metadata.md 5)."""

    offset_column: str = "offset"
    operation_type_column: str = "op"
    system_time_column: str = "system_time"
    event_time_column: str = "event_time"

    @classmethod
    def of(cls, event: SetVocab | None) -> "Vocabulary":
        """The names that the event gives, the defaults for those that it leaves out."""
        if event is None:
            return cls()
        return cls(
            offset_column=event.offset_column or cls().offset_column,
            operation_type_column=event.operation_type_column or cls().operation_type_column,
            system_time_column=event.system_time_column or cls().system_time_column,
            event_time_column=event.event_time_column or cls().event_time_column,
        )


@dataclass(slots=True)
class Projection:
    """What holds at the last block that was fed, oldest first, of a chain that has been checked.

    Fed with key blocks only (`ChainState.resume`), all but `num_records` is right: that counts the
    records of the slices that were fed.
    """

    head: Multihash | None = None
    sequence_number: int | None = None
    system_time: Timestamp | None = None
    seed: Seed | None = None
    schema: SetDataSchema | None = None
    vocabulary: Vocabulary = Vocabulary()
    push_sources: dict[str, AddPushSource] = field(default_factory=dict)
    polling_source: SetPollingSource | None = None
    transform: SetTransform | None = None
    info: SetInfo | None = None
    license: SetLicense | None = None
    attachments: SetAttachments | None = None
    last_add_data: AddData | None = None
    state_source: SetPollingSource | None = None
    """The polling source of which the last AddData tells the state."""
    last_query: ExecuteTransform | None = None
    watermark: Timestamp | None = None
    last_offset: int | None = None
    last_checkpoint: Checkpoint | None = None
    num_records: int = 0

    @classmethod
    def of(cls, blocks: Iterable[StoredBlock]) -> "Projection":
        """The projection of the blocks, oldest first."""
        projection = cls()
        for block in blocks:
            projection.feed(block)
        return projection

    def copy(self) -> "Projection":
        """Another of the same state, to be fed on its own."""
        return replace(self, push_sources=dict(self.push_sources))

    def feed(self, block: StoredBlock) -> None:
        """Takes in the next block."""
        self.head = block.hash
        self.sequence_number = block.block.sequence_number
        self.system_time = block.block.system_time
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform):
            self._feed_data(event)
        else:
            self._feed_definition(event)

    def _feed_data(self, event: AddData | ExecuteTransform) -> None:
        if isinstance(event, AddData):
            last = self.last_add_data
            state = event.new_source_state
            is_repeated = event.new_data is None and last is not None and state == last.new_source_state
            if state is None or not is_repeated:  # a watermark by hand says the state again
                self.state_source = self.polling_source
            self.last_add_data = event
        else:
            self.last_query = event
        self.watermark = event.new_watermark
        self.last_offset = last_offset(event)
        self.last_checkpoint = event.new_checkpoint
        if event.new_data is not None:
            interval = event.new_data.offset_interval
            self.num_records += interval.end - interval.start + 1

    def _feed_definition(self, event: MetadataEvent) -> None:
        match event:
            case Seed():
                self.seed = event
            case SetDataSchema():
                self.schema = event
            case SetVocab():
                self.vocabulary = Vocabulary.of(event)
            case SetTransform():
                self.transform = event
            case SetInfo():
                self.info = event
            case SetLicense():
                self.license = event
            case SetAttachments():
                self.attachments = event
            case AddPushSource():
                self.push_sources[event.source_name] = event
            case DisablePushSource():
                self.push_sources.pop(event.source_name, None)
            case SetPollingSource():
                self.polling_source = event
            case DisablePollingSource():
                self.polling_source = None
