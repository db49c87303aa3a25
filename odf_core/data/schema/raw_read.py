"""Reading the Arrow schema of an older SetDataSchema event: a bare Schema flatbuffer (metadata.md 2.6)."""

import struct
from typing import Any

import pyarrow as pa

from odf_core.data.errors import InvalidRawArrowSchema
from odf_core.data.schema.texts import read_texts

_CONTINUATION = b"\xff\xff\xff\xff"
_METADATA_V5 = 4
_HEADER_IS_SCHEMA = 1

# A Message table (vtable in front) for an IPC stream, up to its header: root offset, padding, vtable of
# slots version, header_type, header, bodyLength; then the table with soffset, header, version, header_type.
_MESSAGE_BYTES = 48
_TABLE_AT = 24
_HEADER_AT = _TABLE_AT + 4


def read_raw_arrow_schema(data: bytes) -> Any:
    """The `pa.Schema` of a bare `org.apache.arrow.flatbuf.Schema`; raises `InvalidRawArrowSchema`.

    pyarrow reads a schema only in the message of an IPC stream, so one is put around it: offsets within
    a flatbuffer are relative, and the message's header may be a table that lies anywhere behind it.
    """
    if len(data) < 4:
        raise InvalidRawArrowSchema(f"An Arrow schema of {len(data)} bytes is too short to be one.")
    root = int.from_bytes(data[:4], "little")
    if root >= len(data):
        raise InvalidRawArrowSchema("The root of an Arrow schema lies behind its end.")
    message = _message_around(data, root)
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(message))
        read_texts(schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidRawArrowSchema(f"Bytes are no Arrow schema: {str(error).rstrip('.')}.") from error
    return schema


def _message_around(data: bytes, root: int) -> bytes:
    vtable = struct.pack("<6H", 12, 24, 8, 10, 4, 16)
    head = struct.pack("<I4x", _TABLE_AT) + vtable + b"\0" * 4
    header_offset = _MESSAGE_BYTES + root - _HEADER_AT
    table = struct.pack("<iIhBx4xq", _TABLE_AT - 8, header_offset, _METADATA_V5, _HEADER_IS_SCHEMA, 0)
    flatbuffer = head + table
    assert len(flatbuffer) == _MESSAGE_BYTES
    flatbuffer += data + b"\0" * (-len(data) % 8)
    return _CONTINUATION + struct.pack("<i", len(flatbuffer)) + flatbuffer
