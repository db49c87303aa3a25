"""Knows blocks of ODF 0.27 to 0.33, which say manifest version 2 like current ones (metadata.md 1.2).

Read as current blocks they would be refused with a misleading reason, or misunderstood.
"""

from typing import NoReturn

from odf_core.identity import DatasetId
from odf_core.metadata.codec.reader import Reader, read_slots
from odf_core.metadata.errors import LegacyBlock

LEGACY_VERSION = 2
MAX_LEGACY_SEQUENCE_NUMBER = (1 << 32) - 1
"""Four bytes read as eight take in the reference behind them, which is never 0, and exceed this."""

_ID_HEADER = b"\x01\xed\x01\x16\x20"
_ID_BYTES = 37
_PREV_SLOT, _SEQUENCE_SLOT = 1, 2


def refuse_legacy_layout(reader: Reader, root: int) -> None:
    """Raises `LegacyBlock` where the sequence number has four bytes instead of eight.

    In the older layout the reference to the previous block follows after four bytes; in the current one
    the two would overlap. A Seed, whose sequence number is not stored, is known by its dataset id.
    """
    slots, _ = read_slots(reader, root, 3, "MetadataBlock")
    if slots[_SEQUENCE_SLOT] and slots[_PREV_SLOT] == slots[_SEQUENCE_SLOT] + 4:
        _refuse("its sequence number has four bytes")


def read_dataset_id(data: bytes) -> DatasetId:
    """The identifier of its binary form; raises `LegacyBlock` for the older form, else `InvalidDid`."""
    if len(data) == _ID_BYTES and data.startswith(_ID_HEADER):
        _refuse("its dataset id has 37 bytes")
    return DatasetId.from_bytes(data)


def _refuse(why: str) -> NoReturn:
    raise LegacyBlock(
        f"The block has the layout of ODF 0.27 to 0.33 ({why}), which is not supported; "
        "recreate the dataset with a current tool."
    )
