"""The values that one session exchanges, without a dialect (wire.md 3.2, wire-published.md).

Every message of either dialect is one of these; both peers and all state machines use nothing else.
Sizes are bytes, counts are counts of blocks, objects or records.
"""

import enum
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime

from odf_core.chain import new_objects
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.metadata import AddData, ExecuteTransform, StoredBlock

Payload = bytes | bytearray | memoryview
"""Bytes of an archive; a memoryview may look at a shared buffer or a mapped file."""

_U64_MAX = 2**64 - 1


class Phase(enum.Enum):
    """Where in its flow a session is, in the deployed dialect's words: flow, then phase (wire.md 3.2)."""

    PULL_INITIAL = ("Pull", "InitialRequest")
    PULL_METADATA = ("Pull", "MetadataRequest")
    PULL_OBJECTS = ("Pull", "ObjectsRequest")
    PUSH_INITIAL = ("Push", "InitialRequest")
    PUSH_METADATA = ("Push", "MetadataRequest")
    PUSH_OBJECTS = ("Push", "ObjectsRequest")
    PUSH_ENSURING_TARGET = ("Push", "EnsuringTargetExists")
    PUSH_UPLOADS = ("Push", "ObjectsUploadProgress")
    PUSH_COMPLETE = ("Push", "CompleteRequest")


class MediaType(enum.StrEnum):
    """Container of a batch of blocks."""

    TAR = "application/tar"
    TAR_GZIP = "application/tar+gzip"


class Visibility(enum.StrEnum):
    """Who may see a dataset that a push creates."""

    PRIVATE = "Private"
    PUBLIC = "Public"


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """What a session will move. `num_blocks` binds the batch that follows; the rest informs.

    `num_records` is None where the dialect does not tell it.
    """

    num_blocks: int
    num_objects: int
    num_records: int | None
    bytes_in_raw_blocks: int
    bytes_in_raw_objects: int

    @classmethod
    def of(cls, blocks: Iterable[StoredBlock]) -> "TransferPlan":
        """Plan of an interval of blocks (wire.md 3.2): sizes as stored, and as the blocks declare them."""
        total = cls.empty()
        for block in blocks:
            total += cls.of_block(block)
        return total

    @classmethod
    def of_block(cls, block: StoredBlock) -> "TransferPlan":
        """Plan of a single block; an index keeps these and adds them."""
        objects = new_objects(block.block)
        event = block.block.event
        records = 0
        if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
            interval = event.new_data.offset_interval
            records = max(0, interval.end - interval.start + 1)
        return cls(1, len(objects), records, len(block.data), sum(item.size or 0 for item in objects))

    @classmethod
    def empty(cls) -> "TransferPlan":
        """Plan of a pull that is up to date."""
        return cls(0, 0, 0, 0, 0)

    def __add__(self, other: "TransferPlan") -> "TransferPlan":
        # The wire has 64 bits, and declared sizes may lie.
        sums = [
            min((getattr(self, item.name) or 0) + (getattr(other, item.name) or 0), _U64_MAX)
            for item in fields(self)
        ]
        return TransferPlan(*sums)


@dataclass(frozen=True, slots=True)
class TransferUrl:
    """Where an object is fetched from or sent to, with the headers to send along."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PullStrategy:
    """How one object is downloaded."""

    object: ObjectRef
    url: TransferUrl


@dataclass(frozen=True, slots=True)
class PushStrategy:
    """How one object is uploaded; `upload_to` None means that the node has it already."""

    object: ObjectRef
    upload_to: TransferUrl | None


@dataclass(frozen=True, slots=True)
class PullRequest:
    """First message of a pull: the interval after `begin_after` (None: from the seed) up to `stop_at`
    (None: up to the head). `dataset_id` is told by the published dialect only, `force` by the deployed."""

    dataset_id: DatasetId | None
    begin_after: Multihash | None
    stop_at: Multihash | None = None
    force: bool = False


@dataclass(frozen=True, slots=True)
class MetadataRequest:
    """The puller asks for the blocks of the plan."""


@dataclass(frozen=True, slots=True)
class BlocksBatch:
    """Blocks in an archive, oldest first: `num_blocks` entries, named by their hashes."""

    num_blocks: int
    payload: Payload
    media_type: MediaType = MediaType.TAR_GZIP


@dataclass(frozen=True, slots=True)
class ObjectsRequest:
    """Objects whose strategies are asked for; on a push, `is_truncated` announces further requests."""

    objects: tuple[ObjectRef, ...]
    is_truncated: bool = False


@dataclass(frozen=True, slots=True)
class PullObjects:
    """Strategies in the order of the request."""

    strategies: tuple[PullStrategy, ...]


@dataclass(frozen=True, slots=True)
class PushRequest:
    """First message of a push. `current_head` is what the pusher takes for the node's head (None: no
    head); `visibility` counts only where the push creates the dataset."""

    dataset_id: DatasetId | None
    current_head: Multihash | None
    plan: TransferPlan
    force: bool = False
    visibility: Visibility = Visibility.PRIVATE


@dataclass(frozen=True, slots=True)
class PushAccepted:
    """The node takes the plan; the blocks are due."""


@dataclass(frozen=True, slots=True)
class MetadataAccepted:
    """The node takes the blocks; the objects are due."""


@dataclass(frozen=True, slots=True)
class PushObjects:
    """Strategies in the order of the request."""

    strategies: tuple[PushStrategy, ...]


@dataclass(frozen=True, slots=True)
class ProgressRequest:
    """The node asks how far the uploads are."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How many objects are uploaded; None: all of the last request are."""

    uploaded_objects: int | None

    @property
    def is_complete(self) -> bool:
        """Whether the uploads of the last request are done."""
        return self.uploaded_objects is None


@dataclass(frozen=True, slots=True)
class PushComplete:
    """The pusher has sent everything; the node may commit."""


@dataclass(frozen=True, slots=True)
class PushConfirmed:
    """The node has committed."""


@dataclass(frozen=True, slots=True)
class CloseFrame:
    """The end of a connection: RFC 6455 code, reason of at most 123 bytes of UTF-8."""

    code: int
    reason: str
