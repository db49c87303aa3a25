"""What the rules need to know of a chain: the key facts, a few events whatever its length."""

from dataclasses import dataclass, field
from typing import NamedTuple

from odf_core.chain.event_rules import input_ids
from odf_core.identity import DatasetId
from odf_core.metadata import (
    AddData,
    AddPushSource,
    DisablePollingSource,
    DisablePushSource,
    ExecuteTransform,
    MetadataBlock,
    Seed,
    SetDataSchema,
    SetPollingSource,
    SetTransform,
)


class PushSource(NamedTuple):
    """The last AddPushSource of a name, and the sequence number of its block."""

    event: AddPushSource
    at: int


class SourceTurn(NamedTuple):
    """The last event that closes the way for new push sources, and the sequence number of its block."""

    event: SetPollingSource | DisablePollingSource | DisablePushSource
    at: int


@dataclass(slots=True)
class ChainFacts:
    """The key facts; `note` takes the blocks of a chain oldest first.

    `*_at` are sequence numbers, -1 where there is no such block yet.
    """

    seed: Seed | None = None
    last_data: AddData | ExecuteTransform | None = None
    last_add_data: AddData | None = None
    last_query: ExecuteTransform | None = None
    last_query_at: int = -1
    schema: SetDataSchema | None = None
    schema_at: int = -1
    transform_inputs: tuple[DatasetId, ...] | None = None
    transform_at: int = -1
    push_sources: dict[str, PushSource] = field(default_factory=dict)
    active_push_sources: set[str] = field(default_factory=set)
    polling_source_active: bool = False
    last_source_turn: SourceTurn | None = None

    def note(self, block: MetadataBlock) -> None:
        """Takes in a block that the rules admit."""
        event, at = block.event, block.sequence_number
        if isinstance(event, AddData):
            self.last_data = self.last_add_data = event
        elif isinstance(event, ExecuteTransform):
            self.last_data = self.last_query = event
            self.last_query_at = at
        elif isinstance(event, SetDataSchema):
            self.schema, self.schema_at = event, at
        elif isinstance(event, SetTransform):
            self.transform_inputs, self.transform_at = input_ids(event), at
        elif isinstance(event, Seed):
            self.seed = event
        else:
            self._note_source(block)

    def _note_source(self, block: MetadataBlock) -> None:
        event, at = block.event, block.sequence_number
        if isinstance(event, AddPushSource):
            self.push_sources[event.source_name] = PushSource(event, at)
            self.active_push_sources.add(event.source_name)
        elif isinstance(event, SetPollingSource):
            self.polling_source_active = True
            self.last_source_turn = SourceTurn(event, at)
        elif isinstance(event, DisablePollingSource):
            self.polling_source_active = False
            self.last_source_turn = SourceTurn(event, at)
        elif isinstance(event, DisablePushSource):
            self.active_push_sources.discard(event.source_name)
            self.last_source_turn = SourceTurn(event, at)
