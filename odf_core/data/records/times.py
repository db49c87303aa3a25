"""Dates, times and timestamps as text, of any year that 64 bits can hold (data.md 6).

datetime ends with the year 9999; records need not. Years beyond four digits get a sign, as in ISO 8601.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from odf_core.data.records.errors import UnsupportedRecordType

NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of a unit, by Arrow's name."""

_SECOND = 1_000_000_000
_DAY_SECONDS = 86_400
_UTC = frozenset({"UTC", "Etc/UTC", "Z", "+00:00"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def date_text(days: int) -> str:
    """`2020-02-29` of the days since 1970-01-01, in the proleptic Gregorian calendar."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    return f"{shown}-{month:02}-{day:02}"


def time_text(nanos: int) -> str:
    """`12:34:56.789` of the nanoseconds since midnight: 0, 3, 6 or 9 digits of a second's part."""
    seconds, part = divmod(nanos, _SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}{_fraction(part)}"


def timestamp_text(nanos: int) -> str:
    """`2050-01-01T12:00:00` of the nanoseconds since 1970, without a zone."""
    days, rest = divmod(nanos, _DAY_SECONDS * _SECOND)
    return f"{date_text(days)}T{time_text(rest)}"


def duration_text(nanos: int) -> str:
    """`PT1.5S`; nothing is `P0D`."""
    if nanos == 0:
        return "P0D"
    seconds, part = divmod(abs(nanos), _SECOND)
    fraction = f".{part:09}".rstrip("0") if part else ""
    return f"{'-' if nanos < 0 else ''}PT{seconds}{fraction}S"


def zone_writer(zone: str | None) -> Callable[[int], str]:
    """The writer of timestamps of an Arrow zone: `Z` for UTC, the offset for others, nothing without one.

    Raises `UnsupportedRecordType` for a zone that this machine does not know.
    """
    if zone is None:
        return timestamp_text
    if zone in _UTC:
        return lambda nanos: f"{timestamp_text(nanos)}Z"
    offset_of = _fixed(zone) or _named(zone)
    return lambda nanos: _with_offset(nanos, offset_of(nanos))


def _with_offset(nanos: int, seconds: int) -> str:
    if seconds == 0:
        return f"{timestamp_text(nanos)}Z"
    hours, rest = divmod(abs(seconds), 3600)
    sign = "-" if seconds < 0 else "+"
    return f"{timestamp_text(nanos + seconds * _SECOND)}{sign}{hours:02}:{rest // 60:02}"


def _fixed(zone: str) -> Callable[[int], int] | None:
    digits = zone[1:].replace(":", "")
    if zone[:1] not in ("+", "-") or len(digits) != 4 or not (digits.isascii() and digits.isdigit()):
        return None
    seconds = (int(digits[:2]) * 60 + int(digits[2:])) * 60
    return lambda _: -seconds if zone[0] == "-" else seconds


def _named(zone: str) -> Callable[[int], int]:
    try:
        info = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnsupportedRecordType(
            f"Timestamps of the zone {zone[:40]!r} cannot be written.", objects=[zone[:40]]
        ) from error

    def offset(nanos: int) -> int:
        try:
            moment = (_EPOCH + timedelta(seconds=nanos // _SECOND)).astimezone(info)
        except OverflowError:  # beyond the years that zones are known for
            return 0
        found = moment.utcoffset()
        return int(found.total_seconds()) if found is not None else 0

    return offset


def _fraction(nanos: int) -> str:
    if nanos == 0:
        return ""
    text = f"{nanos:09}"
    if nanos % 1_000_000 == 0:
        return f".{text[:3]}"
    return f".{text[:6]}" if nanos % 1_000 == 0 else f".{text}"
