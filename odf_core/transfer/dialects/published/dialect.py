"""The published dialect put together."""

from collections.abc import Mapping
from typing import Any, ClassVar

from odf_core.errors import OdfError
from odf_core.transfer import messages, model
from odf_core.transfer.dialects.base import Dialect
from odf_core.transfer.dialects.codec import Codec, EmptyCodec, ModelCodec, tell_apart
from odf_core.transfer.dialects.published import errors
from odf_core.transfer.dialects.published import pull_messages as pull
from odf_core.transfer.dialects.published import push_messages as push
from odf_core.transfer.dialects.published.batches import PULL_BATCH, PUSH_BATCH
from odf_core.transfer.dialects.published.structures import Empty
from odf_core.transfer.frames import Outgoing
from odf_core.transfer.messages import Message
from odf_core.transfer.model import MediaType, Payload, Phase
from odf_core.transfer.payload import base64_size

SUBPROTOCOL = "odf/smart-transfer-protocol/v1"
"""What a client offers, and the 101 echoes, when both speak the published dialect."""


_CODECS: Mapping[Message[Any], Codec[Any]] = {
    messages.PULL_REQUEST: ModelCodec(messages.PULL_REQUEST, pull.DatasetPullRequest),
    messages.PULL_RESPONSE: ModelCodec(messages.PULL_RESPONSE, pull.DatasetPullResponse),
    messages.PULL_METADATA_REQUEST: EmptyCodec(
        messages.PULL_METADATA_REQUEST, model.MetadataRequest(), Empty
    ),
    messages.PULL_METADATA_RESPONSE: PULL_BATCH,
    messages.PULL_OBJECTS_REQUEST: ModelCodec(
        messages.PULL_OBJECTS_REQUEST, pull.DatasetPullObjectsTransferRequest
    ),
    messages.PULL_OBJECTS_RESPONSE: ModelCodec(
        messages.PULL_OBJECTS_RESPONSE, pull.DatasetPullObjectsTransferResponse
    ),
    messages.PUSH_REQUEST: ModelCodec(messages.PUSH_REQUEST, push.DatasetPushRequest),
    messages.PUSH_RESPONSE: EmptyCodec(messages.PUSH_RESPONSE, model.PushAccepted(), Empty),
    messages.PUSH_METADATA: PUSH_BATCH,
    messages.PUSH_METADATA_RESPONSE: EmptyCodec(
        messages.PUSH_METADATA_RESPONSE, model.MetadataAccepted(), Empty
    ),
    messages.PUSH_OBJECTS_REQUEST: ModelCodec(
        messages.PUSH_OBJECTS_REQUEST, push.DatasetPushObjectsTransferRequest
    ),
    messages.PUSH_OBJECTS_RESPONSE: ModelCodec(
        messages.PUSH_OBJECTS_RESPONSE, push.DatasetPushObjectsTransferResponse
    ),
    messages.PUSH_COMPLETE: EmptyCodec(messages.PUSH_COMPLETE, model.PushComplete(), Empty),
    messages.PUSH_CONFIRMED: EmptyCodec(messages.PUSH_CONFIRMED, model.PushConfirmed(), Empty),
}
tell_apart(_CODECS)


class PublishedDialect(Dialect):
    """wire-published.md."""

    name: ClassVar[str] = "published"
    subprotocol: ClassVar[str | None] = SUBPROTOCOL
    archive_media_type: ClassVar[MediaType] = MediaType.TAR
    has_progress: ClassVar[bool] = False
    codecs = _CODECS

    def peer_error(self, data: bytes, awaiting: Message[Any]) -> OdfError | None:
        """A DatasetError, which may come at any position."""
        return errors.decode(data) if b'"errorDetails"' in data else None

    def encode_error(
        self, error: OdfError, awaiting: Message[Any], phase: Phase | None = None
    ) -> tuple[Outgoing, ...]:
        """DatasetError and close."""
        return errors.encode(error)

    def reason_error(self, reason: str, awaiting: Message[Any]) -> OdfError | None:
        """A DatasetError in short in the reason of a close frame."""
        return errors.decode(reason)

    def payload_size(self, data: Payload) -> int:
        """Four characters for three bytes; within a piece, so the sum is at most a few too many."""
        return base64_size(len(data))

    def payload_bound(self, length: int) -> int:
        """Four characters for three bytes."""
        return base64_size(length)


PUBLISHED = PublishedDialect()
