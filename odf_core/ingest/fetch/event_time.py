"""The event time of a fetched file (data.md 3.1): from metadata, from its path, or from the clock."""

import re
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.ingest.errors import EventTimeUnreadable
from odf_core.ingest.words import shown
from odf_core.metadata.sources import EventTimeSourceFromPath
from odf_core.metadata.timestamp import Timestamp

_DEFAULT_FORMAT = "%Y-%m-%d"
# Shorthands of other strptimes that manifests in use have.
_SHORTHANDS = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S", "%R": "%H:%M", "%D": "%m/%d/%y", "%e": "%d", "%h": "%b"}
_DIRECTIVE = re.compile(r"%.")


def time_of_path(source: EventTimeSourceFromPath, path: str) -> Timestamp:
    """The time that the first group of the pattern cuts out of the path; without a zone it is UTC.

    Raises `EventTimeUnreadable` where the pattern does not match or the format does not fit.
    """
    text = _first_group(source.pattern, path)
    given = source.timestamp_format or _DEFAULT_FORMAT
    try:
        form = _DIRECTIVE.sub(lambda match: _SHORTHANDS.get(match[0], match[0]), given)
        moment = datetime.strptime(text, form)  # noqa: DTZ007 - the zone is looked at below
    except (ValueError, re.error) as error:
        raise EventTimeUnreadable(
            f"The event time {text[:100]!r}, cut out of {path[:500]!r}, is not of the format {given!r}; "
            "correct pattern or timestampFormat of eventTime.",
            objects=(path,),
        ) from error
    return Timestamp.from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _first_group(pattern: str, path: str) -> str:
    # A pattern is foreign input and Python's engine can take for ever over one: RE2 is linear.
    subject = pa.array([path])
    whole = rf"\A(?s:.*?)(?:{pattern})(?s:.*)\z"
    try:
        matches = pc.match_substring_regex(subject, whole)[0].as_py()
        text: str = pc.replace_substring_regex(subject, whole, r"\1")[0].as_py() if matches else ""
    except ValueError as error:  # of Arrow, or for what is no UTF-8
        raise EventTimeUnreadable(
            f"The pattern {pattern[:200]!r} of eventTime is not a regular expression with a group: "
            f"{shown(str(error), 200)}."
        ) from error
    if not text:
        raise EventTimeUnreadable(
            f"The pattern {pattern[:200]!r} of eventTime finds no event time in {path[:500]!r}.",
            objects=(path,),
        )
    return text
