"""As of when: an offset, a block or a system time, and the last record that a dataset had then.

A projection onto the axis of system time shows what was known at a moment. Chains grow in that order, so
each such moment comes down to an offset: records up to it count, later ones do not. Hard compaction joins
blocks, and leaves the moments between them to offsets alone.
"""

import re
from collections.abc import Iterable
from typing import ClassVar, TypeAlias

from odf_core.chain.data_rules import last_offset
from odf_core.errors import InvalidInput, NotFound
from odf_core.identity import Multihash
from odf_core.metadata import AddData, ExecuteTransform, InvalidTimestamp, StoredBlock, Timestamp

NO_RECORDS = -1
"""The last offset of a dataset without records."""

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?", re.ASCII)
_HASH = "f1620"
_MOST_DIGITS = 18
_SHOWN = 80


class AsOfNotFound(NotFound):
    """A dataset is asked for as of a block, an offset or a time that it does not have."""

    code: ClassVar[str] = "as_of_not_found"


class AsOfInvalid(InvalidInput):
    """What is neither an offset nor the hash of a block nor a time."""

    code: ClassVar[str] = "as_of_invalid"


AsOf: TypeAlias = int | Multihash | Timestamp
"""An offset, the hash of a block, or a system time."""


def parse_as_of(text: str, *, is_time: bool = False) -> AsOf:
    """An offset (digits), the hash of a block (`f1620…`) or a system time; `is_time`: only the last.

    Raises `AsOfInvalid`.
    """
    if is_time:
        return parse_moment(text)
    if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    try:
        return Multihash.parse(text) if text.startswith(_HASH) else parse_moment(text)
    except InvalidInput as error:
        raise AsOfInvalid(
            f"{text[:_SHOWN]!r} is no offset, no hash of a block (f1620…) and no time; write it as in 12 or "
            f"2024-01-01T00:00:00Z.",
            objects=[text[:_SHOWN]],
        ) from error


def parse_moment(text: str) -> Timestamp:
    """A time: RFC 3339, without a zone in UTC, a day alone from its midnight. Raises `AsOfInvalid`."""
    if _DAY.fullmatch(text):
        whole = f"{text}T00:00:00Z"
    else:
        whole = f"{text}Z" if _WITHOUT_ZONE.fullmatch(text) else text
    try:
        return Timestamp.parse(whole)
    except InvalidTimestamp as error:
        raise AsOfInvalid(
            f"{text[:_SHOWN]!r} is no time; write it as in 2024-01-01T00:00:00Z.", objects=[text[:_SHOWN]]
        ) from error


def offset_as_of(blocks: Iterable[StoredBlock], as_of: AsOf, dataset: str) -> int:
    """The offset of the last record of `dataset` as of then, `NO_RECORDS` where there was none yet.

    `blocks` are all of the chain, newest first; no more of them are looked at than needed. Raises
    `AsOfNotFound` for an offset beyond the last, an unknown block, and a time before the first block.
    """
    started = isinstance(as_of, int)
    oldest: StoredBlock | None = None
    for block in blocks:
        oldest = block
        if isinstance(as_of, Multihash):
            started = started or block.hash == as_of
        elif isinstance(as_of, Timestamp):
            started = started or block.block.system_time <= as_of
        event = block.block.event
        if started and isinstance(event, AddData | ExecuteTransform):
            last = last_offset(event)
            return _within(NO_RECORDS if last is None else last, as_of, dataset)
    if started:
        return _within(NO_RECORDS, as_of, dataset)
    if isinstance(as_of, Multihash):
        raise AsOfNotFound(f"Dataset {dataset} has no block {as_of}.", objects=[dataset, str(as_of)])
    begins = f"begins at {oldest.block.system_time}" if oldest is not None else "has no block yet"
    raise AsOfNotFound(
        f"Dataset {dataset} was not there as of {as_of}: it {begins}; ask for a later time.",
        objects=[dataset, str(as_of)],
    )


def _within(last: int, as_of: AsOf, dataset: str) -> int:
    if not isinstance(as_of, int):
        return last
    if as_of > last:
        has = f"its last record has offset {last}" if last >= 0 else "it has no records yet"
        raise AsOfNotFound(f"Dataset {dataset} has no offset {as_of}: {has}.", objects=[dataset, str(as_of)])
    return as_of
