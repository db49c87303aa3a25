"""The manifest around a block's content (metadata.md 2.1).

Its canonical bytes follow from the content's length alone, so they are written, and recognised,
as a fixed header. Other encodings of the same table are read by the way of every table.
"""

import struct

from odf_core.identity import ODF_METADATA_BLOCK
from odf_core.metadata.codec.reader import Reader, byte_vector, read_slots
from odf_core.metadata.errors import MalformedBlock
from odf_core.metadata.versions import check_version

# By the content's length modulo 8: header up to the version, padding after the kind.
_HEADERS = {
    4: (bytes.fromhex("140000000000000000000a0014000c00080004000a00000010000000"), b""),
    0: (bytes.fromhex("140000000000000000000a0018000c00080004000a00000014000000"), bytes(4)),
}
_HEADER_BYTES = 28
_VERSION_AND_KIND = struct.Struct("<iq")
_U32 = struct.Struct("<I")
_KIND_SLOT, _VERSION_SLOT, _CONTENT_SLOT = range(3)


def wrap(content: bytes, version: int) -> bytes:
    """The block file of a content, whose length is a multiple of 4."""
    header, padding = _HEADERS[len(content) % 8]
    fixed = _VERSION_AND_KIND.pack(version, ODF_METADATA_BLOCK)
    return b"".join((header, fixed, padding, _U32.pack(len(content)), content))


def unwrap(data: bytes) -> tuple[int, bytes]:
    """Manifest version (checked) and content of a block file; raises `MalformedBlock` or a version error."""
    content = _unwrap_canonical(data)
    if content is not None:
        version, kind = _VERSION_AND_KIND.unpack_from(data, _HEADER_BYTES)
    else:
        version, kind, content = _unwrap_any(data)
    if kind != ODF_METADATA_BLOCK:
        raise MalformedBlock(
            f"Bytes are not a metadata block: the manifest's kind is {kind:#x}, not {ODF_METADATA_BLOCK:#x}."
        )
    check_version(version)
    return version, content


def _unwrap_canonical(data: bytes) -> bytes | None:
    """Content of a file that starts with one of the two canonical headers and ends with its content."""
    for header, padding in _HEADERS.values():
        if data.startswith(header):
            start = _HEADER_BYTES + _VERSION_AND_KIND.size + len(padding) + _U32.size
            if len(data) >= start and _U32.unpack_from(data, start - 4)[0] == len(data) - start:
                return data[start:]
    return None


def _unwrap_any(data: bytes) -> tuple[int, int, bytes]:
    """Version, kind and content of a manifest of any layout."""
    reader = Reader(data, max_depth=1)
    table = reader.root()
    slots, size = read_slots(reader, table, 3, "Manifest")
    version = kind = 0
    if slots[_VERSION_SLOT]:
        version = reader.number("<i", table, slots[_VERSION_SLOT], size, "Manifest.version")
    if slots[_KIND_SLOT]:
        kind = reader.number("<q", table, slots[_KIND_SLOT], size, "Manifest.kind")
    if not slots[_CONTENT_SLOT]:
        raise MalformedBlock("Bytes are not a metadata block: the manifest has no content.")
    return version, kind, byte_vector(reader, table, slots[_CONTENT_SLOT], size, "Manifest.content")
