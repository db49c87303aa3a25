"""The deployed dialect put together."""

from collections.abc import Mapping
from typing import Any, ClassVar

from odf_core.errors import OdfError
from odf_core.transfer import messages, model
from odf_core.transfer.dialects.base import Dialect
from odf_core.transfer.dialects.codec import Codec, EmptyCodec, ModelCodec, tell_apart
from odf_core.transfer.dialects.deployed import errors
from odf_core.transfer.dialects.deployed import pull_messages as pull
from odf_core.transfer.dialects.deployed import push_messages as push
from odf_core.transfer.dialects.deployed.batches import PULL_BATCH, PUSH_BATCH
from odf_core.transfer.dialects.deployed.structures import Empty
from odf_core.transfer.frames import Outgoing
from odf_core.transfer.messages import Message
from odf_core.transfer.model import MediaType, Payload, Phase
from odf_core.transfer.payload import number_array_size

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
    messages.PUSH_RESPONSE: ModelCodec(messages.PUSH_RESPONSE, push.DatasetPushResponse),
    messages.PUSH_METADATA: PUSH_BATCH,
    messages.PUSH_METADATA_RESPONSE: ModelCodec(
        messages.PUSH_METADATA_RESPONSE, push.DatasetPushMetadataResponse
    ),
    messages.PUSH_OBJECTS_REQUEST: ModelCodec(
        messages.PUSH_OBJECTS_REQUEST, push.DatasetPushObjectsTransferRequest
    ),
    messages.PUSH_OBJECTS_RESPONSE: ModelCodec(
        messages.PUSH_OBJECTS_RESPONSE, push.DatasetPushObjectsTransferResponse
    ),
    messages.PUSH_PROGRESS_REQUEST: EmptyCodec(
        messages.PUSH_PROGRESS_REQUEST, model.ProgressRequest(), Empty
    ),
    messages.PUSH_PROGRESS: ModelCodec(messages.PUSH_PROGRESS, push.DatasetPushObjectsUploadProgress),
    messages.PUSH_COMPLETE: EmptyCodec(messages.PUSH_COMPLETE, model.PushComplete(), Empty),
    messages.PUSH_CONFIRMED: EmptyCodec(messages.PUSH_CONFIRMED, model.PushConfirmed(), Empty),
}
tell_apart(_CODECS)


class DeployedDialect(Dialect):
    """wire.md 3."""

    name: ClassVar[str] = "deployed"
    subprotocol: ClassVar[str | None] = None
    archive_media_type: ClassVar[MediaType] = MediaType.TAR_GZIP
    has_progress: ClassVar[bool] = True
    codecs = _CODECS

    def peer_error(self, data: bytes, awaiting: Message[Any]) -> OdfError | None:
        """An `Err` in place of the answer."""
        return errors.decode(data) if b'"Err"' in data else None

    def encode_error(
        self, error: OdfError, awaiting: Message[Any], phase: Phase | None = None
    ) -> tuple[Outgoing, ...]:
        """A text or a close frame, as the table of wire.md 3.6 says."""
        return (errors.encode(error, awaiting, phase),)

    def defers(self, error: OdfError, awaiting: Message[Any]) -> bool:
        """RefCollision and NameCollision exist in the answer to the objects request only."""
        return errors.deferred(error, awaiting)

    def reason_error(self, reason: str, awaiting: Message[Any]) -> OdfError | None:
        """The pending response in the reason of a close frame."""
        return errors.decode(reason)

    def payload_size(self, data: Payload) -> int:
        """One to three digits and a comma for each byte."""
        return number_array_size(data)

    def payload_bound(self, length: int) -> int:
        """Three digits and a comma."""
        return 4 * length


DEPLOYED = DeployedDialect()
