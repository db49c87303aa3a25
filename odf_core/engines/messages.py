"""Messages between coordinator and engine, as deployed (data.md 4.3): FlatBuffers tables and their codec.

Declared in the vocabulary of the metadata: the order of fields is that of the slots.
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.errors import OdfError
from odf_core.metadata.codec.decode import decode_table
from odf_core.metadata.codec.encode import encode_table
from odf_core.metadata.declare import U64, UnionOf
from odf_core.metadata.events import OffsetInterval
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.transforms import Transform
from odf_core.metadata.versions import DEFAULT_MANIFEST_VERSION
from odf_core.transform.request import TransformRequest

_MAX_DEPTH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryRequest:
    """Query over files that are no dataset yet: preprocessing of an ingest."""

    input_data_paths: tuple[str, ...]
    transform: Transform
    output_data_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryResponseProgress:
    """Still at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryResponseSuccess:
    """The output file has been written."""

    num_records: U64


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryResponseInvalidQuery:
    """The query cannot be understood, or is not allowed."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryResponseInternalError:
    """The engine failed."""

    message: str
    backtrace: str | None = None


RawQueryResponse: TypeAlias = Annotated[
    RawQueryResponseProgress
    | RawQueryResponseSuccess
    | RawQueryResponseInvalidQuery
    | RawQueryResponseInternalError,
    UnionOf("RawQueryResponse", prefix="RawQueryResponse"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawQueryResponseRoot:
    """A union cannot be a root; this is."""

    value: RawQueryResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResponseProgress:
    """Still at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResponseSuccess:
    """The step is done; both are absent where there is nothing new."""

    new_offset_interval: OffsetInterval | None = None
    new_watermark: Timestamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResponseInvalidQuery:
    """The query cannot be understood, or is not allowed."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResponseInternalError:
    """The engine failed."""

    message: str
    backtrace: str | None = None


TransformResponse: TypeAlias = Annotated[
    TransformResponseProgress
    | TransformResponseSuccess
    | TransformResponseInvalidQuery
    | TransformResponseInternalError,
    UnionOf("TransformResponse", prefix="TransformResponse"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformResponseRoot:
    """A union cannot be a root; this is."""

    value: TransformResponse


EngineMessage: TypeAlias = RawQueryRequest | RawQueryResponseRoot | TransformRequest | TransformResponseRoot
Message = TypeVar("Message", RawQueryRequest, RawQueryResponseRoot, TransformRequest, TransformResponseRoot)


def encode_message(message: EngineMessage) -> bytes:
    """The FlatBuffers form of a message."""
    return encode_table(message, DEFAULT_MANIFEST_VERSION)


def decode_message(kind: type[Message], content: bytes) -> Message:
    """Reads a message of this kind; raises `InvalidEngineRequest`."""
    try:
        message: Message = decode_table(kind, content, _MAX_DEPTH)
    except OdfError as error:
        raise InvalidEngineRequest(f"The message is no {kind.__name__}: {error.message}") from error
    return message
