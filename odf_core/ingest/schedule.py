"""When a polling source is due: cron expressions in UTC."""

import re
from datetime import UTC

from croniter import croniter
from croniter.croniter import CroniterError

from odf_core.ingest.errors import InvalidSchedule
from odf_core.metadata.errors import InvalidTimestamp
from odf_core.metadata.timestamp import Timestamp

_FIELDS = 5
_MOST_CHARS = 200
_MOST_YEARS = 10  # from one 29th of February to the next there may be eight; others never come
# The library knows more: letters that stand for a random moment, another one at each call.
_FIELD = re.compile(
    r"(?:[0-9*,/?#-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|l)+",
    re.IGNORECASE,
)


def next_run(cron: str, after: Timestamp) -> Timestamp:
    """The first moment later than `after` that the expression names, in UTC and whole minutes.

    Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday); where both
    days are restricted, either is enough, as in Vixie's cron. Raises `InvalidSchedule`, for moments that
    never come as well.
    """
    fields = cron.split() if len(cron) <= _MOST_CHARS else []
    if len(fields) != _FIELDS or not all(map(_FIELD.fullmatch, fields)):
        raise InvalidSchedule(
            f"The schedule {cron[:_MOST_CHARS]!r} is no cron expression of five fields: minute, hour, "
            "day of the month, month, day of the week."
        )
    try:
        begin = after.to_datetime()
        due = croniter(" ".join(fields), begin, max_years_between_matches=_MOST_YEARS).get_next(type(begin))
        return Timestamp.from_datetime(due.astimezone(UTC))
    except (CroniterError, ValueError, KeyError, IndexError, OverflowError, InvalidTimestamp) as error:
        why = "it names a moment that never comes" if "failed to find" in str(error) else str(error)[:200]
        raise InvalidSchedule(f"The schedule {cron!r} is no cron expression: {why.rstrip('.')}.") from error
