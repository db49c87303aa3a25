"""Moments in UTC with nanoseconds, as blocks and manifests have them (metadata.md 1.1 and 5.4)."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from odf_core.metadata.errors import InvalidTimestamp

_RFC_3339 = re.compile(
    r"(\+\d{5,6}|-\d{4,6}|\d{4})-(\d\d)-(\d\d)[Tt ]"
    r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_DAY_SECONDS = 86_400
_SECOND = 1_000_000_000
_MOST_CHARS = 64
# The years that the deployed implementation's date type holds.
MIN_YEAR, MAX_YEAR = -262_143, 262_142
_CUMULATIVE_DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)


def is_leap(year: int) -> bool:
    """Whether the (proleptic Gregorian, astronomical) year has 366 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_before(month: int, year: int) -> int:
    """Days of the year before the month, 1 to 13."""
    return _CUMULATIVE_DAYS[month - 1] + (month > 2 and is_leap(year))


class Timestamp(NamedTuple):
    """A moment in UTC; tuples compare chronologically.

    `ordinal` is the day of the year from 1, `seconds` are those since midnight. In a leap second
    `nanoseconds` are 1e9 or more. The constructor believes its arguments; `checked` does not.
    """

    year: int
    ordinal: int
    seconds: int
    nanoseconds: int

    @classmethod
    def checked(cls, year: int, ordinal: int, seconds: int, nanoseconds: int) -> "Timestamp":
        """The moment of these numbers; raises `InvalidTimestamp` where there is none."""
        if (
            (1 <= ordinal <= 365 or (ordinal == 366 and is_leap(year)))
            and 0 <= seconds < _DAY_SECONDS
            and (0 <= nanoseconds < _SECOND or (seconds % 60 == 59 and _SECOND <= nanoseconds < 2 * _SECOND))
            and MIN_YEAR <= year <= MAX_YEAR
        ):
            return cls(year, ordinal, seconds, nanoseconds)
        raise InvalidTimestamp(
            f"Year {year}, day {ordinal}, second {seconds}, nanosecond {nanoseconds} is not a moment."
        )

    @classmethod
    def parse(cls, text: str) -> "Timestamp":
        """Reads an RFC 3339 date-time of any offset; raises `InvalidTimestamp`.

        Digits beyond nanoseconds are dropped. Years beyond four digits carry a sign, as `str` writes them.
        """
        match = _RFC_3339.fullmatch(text) if len(text) <= _MOST_CHARS else None
        if match is None:
            raise InvalidTimestamp(f"{text[:_MOST_CHARS]!r} is not an RFC 3339 date-time.")
        year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
        nanoseconds = int((match[7] or "")[:9].ljust(9, "0"))
        if second == 60:
            second, nanoseconds = 59, nanoseconds + _SECOND
        offset_hours, offset_minutes = int(match[9] or 0), int(match[10] or 0)
        if not (1 <= month <= 12 and 1 <= day <= _days_before(month + 1, year) - _days_before(month, year)):
            raise InvalidTimestamp(f"{text!r} names a day that does not exist.")
        if hour > 23 or minute > 59 or second > 59 or offset_hours > 23 or offset_minutes > 59:
            raise InvalidTimestamp(f"{text!r} names a time of day that does not exist.")
        offset = (offset_hours * 60 + offset_minutes) * 60 * (-1 if match[8] == "-" else 1)
        seconds = (hour * 60 + minute) * 60 + second - offset
        return cls._normalised(year, _days_before(month, year) + day, seconds, nanoseconds)

    @classmethod
    def _normalised(cls, year: int, ordinal: int, seconds: int, nanoseconds: int) -> "Timestamp":
        """Moves at most one day over into the neighbouring day and year."""
        days, seconds = divmod(seconds, _DAY_SECONDS)
        ordinal += days
        if ordinal < 1:
            year -= 1
            ordinal += 365 + is_leap(year)
        elif ordinal > 365 + is_leap(year):
            ordinal -= 365 + is_leap(year)
            year += 1
        return cls.checked(year, ordinal, seconds, nanoseconds)

    @classmethod
    def from_datetime(cls, moment: datetime) -> "Timestamp":
        """The moment of an aware datetime; raises `InvalidTimestamp` for one without a time zone."""
        if moment.tzinfo is None or moment.utcoffset() is None:
            raise InvalidTimestamp(f"{moment.isoformat()} has no time zone.")
        try:
            utc = moment.astimezone(UTC)
        except OverflowError as error:
            raise InvalidTimestamp(f"{moment.isoformat()} is out of range in UTC.") from error
        seconds = (utc.hour * 60 + utc.minute) * 60 + utc.second
        return cls(utc.year, utc.timetuple().tm_yday, seconds, utc.microsecond * 1000)

    @classmethod
    def now(cls) -> "Timestamp":
        """The present, in microseconds."""
        return cls.from_datetime(datetime.now(UTC))

    def to_datetime(self) -> datetime:
        """The moment as an aware datetime in UTC, cut to microseconds; a leap second becomes the one before.

        Raises `InvalidTimestamp` for years that `datetime` lacks (below 1, above 9999).
        """
        if not 1 <= self.year <= 9999:
            raise InvalidTimestamp(f"Year {self.year} is out of the range of datetimes.")
        return datetime(self.year, 1, 1, tzinfo=UTC) + timedelta(
            days=self.ordinal - 1,
            seconds=self.seconds,
            microseconds=min(self.nanoseconds, _SECOND - 1) // 1000,
        )

    def milliseconds(self) -> int:
        """Whole milliseconds since 1970, rounded down. Raises `InvalidTimestamp` as `to_datetime` does."""
        return (self.to_datetime() - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)

    def __str__(self) -> str:
        """RFC 3339 with `Z` and 0, 3, 6 or 9 digits of a second's fraction, the fewest that are exact."""
        month = next(month for month in range(1, 13) if self.ordinal <= _days_before(month + 1, self.year))
        day = self.ordinal - _days_before(month, self.year)
        minutes, second = divmod(self.seconds, 60)
        fraction = self.nanoseconds
        if fraction >= _SECOND:
            second, fraction = second + 1, fraction - _SECOND
        year = f"{self.year:04}" if 0 <= self.year <= 9999 else f"{self.year:+05}"
        text = f"{year}-{month:02}-{day:02}T{minutes // 60:02}:{minutes % 60:02}:{second:02}"
        if not fraction:
            return text + "Z"
        digits = f"{fraction:09}"
        while digits.endswith("000"):
            digits = digits[:-3]
        return f"{text}.{digits}Z"
