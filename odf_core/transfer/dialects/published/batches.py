"""The two messages of the published dialect that carry an archive, as a string of base64.

Written is `application/tar`, the document's own example; `application/tar+gzip` is read, too.
"""

from typing import Annotated

import msgspec
from pydantic import BaseModel

from odf_core.limits import Limits
from odf_core.transfer.dialects.published.pull_messages import DatasetMetadataPullResponse
from odf_core.transfer.dialects.published.push_messages import DatasetPushMetadata
from odf_core.transfer.dialects.reading import read_struct
from odf_core.transfer.errors import MalformedMessage, UnsupportedMediaType
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.messages import PULL_METADATA_RESPONSE, PUSH_METADATA, Message
from odf_core.transfer.model import BlocksBatch, MediaType
from odf_core.transfer.payload import Base64String, decode_base64_string

ENCODING = "base64"
OBJECT_TYPE = "MetadataBlock"

_Name = Annotated[str, msgspec.Meta(max_length=100)]


class _Batch(msgspec.Struct, rename="camel"):
    objects_count: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
    object_type: _Name
    media_type: _Name
    encoding: _Name
    payload: msgspec.Raw


class _PullBatch(msgspec.Struct):
    blocks: _Batch


class _PushBatch(msgspec.Struct, rename="camel"):
    new_blocks: _Batch


class BatchCodec:
    """Reads and writes one of the two messages."""

    def __init__(self, message: Message[BlocksBatch], key: str, schema: type[BaseModel]) -> None:
        self._message = message
        self._key = key
        self.schema = schema
        self.markers = self.fields = frozenset({key})

    def decode(self, data: bytes, limits: Limits) -> BlocksBatch:
        """Batch with its payload as bytes; raises MalformedMessage, MessageTooLarge, UnsupportedMediaType."""
        batch = _cut_open(data, self._message)
        if batch.object_type != OBJECT_TYPE:
            raise MalformedMessage(
                f"Not a {self._message}: objects of type {batch.object_type!r} came, not {OBJECT_TYPE}."
            )
        if batch.encoding != ENCODING or batch.media_type not in set(MediaType):
            raise UnsupportedMediaType(
                f"Blocks came as {batch.media_type!r} encoded {batch.encoding!r}; this dialect has "
                f"{' and '.join(MediaType)} encoded {ENCODING!r}."
            )
        media_type = MediaType(batch.media_type)
        most = (
            limits.archive_expanded_bytes if media_type is MediaType.TAR else limits.archive_compressed_bytes
        )
        payload = decode_base64_string(memoryview(batch.payload), most)
        return BlocksBatch(batch.objects_count, payload, media_type)

    def encode(self, value: BlocksBatch) -> TextMessage:
        """Text that is made piece by piece when it is sent."""
        opening = (
            f'{{"{self._key}":{{"objectsCount":{value.num_blocks},"objectType":"{OBJECT_TYPE}",'
            f'"mediaType":"{value.media_type}","encoding":"{ENCODING}","payload":'
        )
        return TextMessage(opening.encode("ascii"), Base64String(value.payload), b"}}")


def _cut_open(data: bytes, message: Message[BlocksBatch]) -> _Batch:
    if message is PUSH_METADATA:
        return read_struct(_PushBatch, data, message).new_blocks
    return read_struct(_PullBatch, data, message).blocks


PULL_BATCH = BatchCodec(PULL_METADATA_RESPONSE, "blocks", DatasetMetadataPullResponse)
PUSH_BATCH = BatchCodec(PUSH_METADATA, "newBlocks", DatasetPushMetadata)
