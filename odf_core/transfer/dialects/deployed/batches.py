"""The two messages of the deployed dialect that carry an archive (wire.md 3.3).

They are cut open by msgspec, so that the payload, an array of numbers of some megabytes, is read once
and in pieces. The models here describe them; a test holds that both agree.
"""

from typing import Annotated, Literal

import msgspec
from pydantic import BaseModel, Field

from odf_core.limits import Limits
from odf_core.transfer.dialects.deployed.structures import Wire
from odf_core.transfer.dialects.fields import U32
from odf_core.transfer.dialects.reading import read_struct
from odf_core.transfer.errors import UnsupportedMediaType
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.messages import PULL_METADATA_RESPONSE, PUSH_METADATA, Message
from odf_core.transfer.model import BlocksBatch, MediaType
from odf_core.transfer.payload import NumberArray, decode_number_array

ENCODING = "raw"


class MetadataBlocksBatch(Wire):
    """Blocks in an archive: tar+gzip, its bytes as numbers."""

    num_blocks: U32
    media_type: Literal["application/tar+gzip"]
    encoding: Literal["raw"]
    payload: list[Annotated[int, Field(ge=0, le=255)]]


class DatasetMetadataPullResponse(Wire):
    """The blocks of a pull; not wrapped in a Result."""

    blocks: MetadataBlocksBatch


class DatasetPushMetadataRequest(Wire):
    """The blocks of a push."""

    new_blocks: MetadataBlocksBatch


class _Batch(msgspec.Struct):
    num_blocks: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
    media_type: Annotated[str, msgspec.Meta(max_length=100)]
    encoding: Annotated[str, msgspec.Meta(max_length=100)]
    payload: msgspec.Raw


class _PullBatch(msgspec.Struct):
    blocks: _Batch


class _PushBatch(msgspec.Struct):
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
        if (batch.media_type, batch.encoding) != (MediaType.TAR_GZIP, ENCODING):
            raise UnsupportedMediaType(
                f"Blocks came as {batch.media_type!r} encoded {batch.encoding!r}; this dialect has "
                f"{MediaType.TAR_GZIP.value!r} encoded {ENCODING!r} only."
            )
        payload = decode_number_array(memoryview(batch.payload), limits.archive_compressed_bytes)
        return BlocksBatch(batch.num_blocks, payload)

    def encode(self, value: BlocksBatch) -> TextMessage:
        """Text that is made piece by piece when it is sent."""
        if value.media_type is not MediaType.TAR_GZIP:
            raise UnsupportedMediaType("The deployed dialect carries archives of tar+gzip only.")
        opening = (
            f'{{"{self._key}":{{"num_blocks":{value.num_blocks},"media_type":"{MediaType.TAR_GZIP}",'
            f'"encoding":"{ENCODING}","payload":'
        )
        return TextMessage(opening.encode("ascii"), NumberArray(value.payload), b"}}")


def _cut_open(data: bytes, message: Message[BlocksBatch]) -> _Batch:
    if message is PUSH_METADATA:
        return read_struct(_PushBatch, data, message).new_blocks
    return read_struct(_PullBatch, data, message).blocks


PULL_BATCH = BatchCodec(PULL_METADATA_RESPONSE, "blocks", DatasetMetadataPullResponse)
PUSH_BATCH = BatchCodec(PUSH_METADATA, "new_blocks", DatasetPushMetadataRequest)
