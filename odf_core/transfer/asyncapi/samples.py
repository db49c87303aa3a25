"""One value of every small message, for the examples of the documents."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.transfer import messages
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.messages import Message
from odf_core.transfer.model import (
    MetadataAccepted,
    MetadataRequest,
    ObjectsRequest,
    Progress,
    ProgressRequest,
    PullObjects,
    PullRequest,
    PullStrategy,
    PushAccepted,
    PushComplete,
    PushConfirmed,
    PushObjects,
    PushRequest,
    PushStrategy,
    TransferPlan,
    TransferUrl,
)

_HEAD = Multihash(SHA3_256, bytes(range(32)))
_SLICE = ObjectRef(ObjectKind.DATA_SLICE, Multihash(SHA3_256, bytes(range(32, 64))), 1202)
_CHECKPOINT = ObjectRef(ObjectKind.CHECKPOINT, Multihash(SHA3_256, bytes(range(64, 96))), 32)
_ID = DatasetId(bytes(range(32)))
_PLAN = TransferPlan(4, 2, 10, 2048, 1234)
_URL = TransferUrl(
    f"https://storage.example.org/bucket/{_SLICE.hash}?X-Amz-Signature={'0' * 64}",
    expires_at=datetime(2026, 11, 20, 23, tzinfo=UTC),
)


def samples(dialect: Dialect) -> Mapping[Message[Any], Any]:
    """A value for each message of the dialect but the two with an archive."""
    request = ObjectsRequest((_SLICE, _CHECKPOINT))
    values: dict[Message[Any], Any] = {
        messages.PULL_REQUEST: PullRequest(_ID, _HEAD),
        messages.PULL_RESPONSE: _PLAN,
        messages.PULL_METADATA_REQUEST: MetadataRequest(),
        messages.PULL_OBJECTS_REQUEST: request,
        messages.PULL_OBJECTS_RESPONSE: PullObjects((PullStrategy(_SLICE, _URL),)),
        messages.PUSH_REQUEST: PushRequest(_ID, _HEAD, _PLAN),
        messages.PUSH_RESPONSE: PushAccepted(),
        messages.PUSH_METADATA_RESPONSE: MetadataAccepted(),
        messages.PUSH_OBJECTS_REQUEST: request,
        messages.PUSH_OBJECTS_RESPONSE: PushObjects(
            (PushStrategy(_SLICE, _URL), PushStrategy(_CHECKPOINT, None))
        ),
        messages.PUSH_PROGRESS_REQUEST: ProgressRequest(),
        messages.PUSH_PROGRESS: Progress(3),
        messages.PUSH_COMPLETE: PushComplete(),
        messages.PUSH_CONFIRMED: PushConfirmed(),
    }
    return {message: value for message, value in values.items() if message in dialect.codecs}
