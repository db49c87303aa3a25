"""Texts as dates and moments, whole arrays at a time (data.md 3.2: naive is UTC, zones are normalised).

Functions raise `pa.ArrowInvalid` where a text is none; `convert` finds out which.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.ingest.read.patterns import MONTHS, Pattern

_UTC_MICROSECONDS = pa.timestamp("us", "UTC")
# RFC 3339 and the habits of ISO 8601 that are not ambiguous: a space for T, no seconds, no zone, only a date.
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
_MOMENT = rf"^{_DATE}([Tt ]{_CLOCK} ?([Zz]|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?)?$"
_ZONE = r"([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$"
DATE = r"^(?P<y>[0-9]{4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})$"


def moments(texts: Any, pattern: Pattern | None) -> Any:
    """Timestamps in microseconds UTC of an array of strings; what is finer is cut off."""
    if pattern is not None:
        return _naive_or_zoned(_pattern_texts(texts, pattern, with_clock=True))
    for target in (_UTC_MICROSECONDS, pa.timestamp("us")):
        try:
            return _as_utc(texts.cast(target))
        except pa.ArrowInvalid:
            continue
    return _naive_or_zoned(_normalised(texts))


def dates(texts: Any, pattern: Pattern | None) -> Any:
    """Date32 of an array of strings; months and days may have one digit, and of a moment it is the day."""
    if pattern is not None:
        return _pattern_texts(texts, pattern, with_clock=False).cast(pa.date32())
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        parts = pc.extract_regex(texts, DATE)
        year, month, day = (parts.field(index) for index in range(3))
        joined = pc.binary_join_element_wise(year, _two(month), _two(day), "-")
        is_date = pc.is_valid(parts)
        no_text = pa.scalar(None, pa.string())
        days = pc.if_else(is_date, joined, no_text).cast(pa.date32())
        return pc.coalesce(days, moments(pc.if_else(is_date, no_text, texts), None).cast(pa.date32()))


def times(texts: Any, data_type: Any) -> Any:
    """Times of day of an array of strings (`12:30`, `12:30:01.5`)."""
    return moments(pc.binary_join_element_wise("1970-01-01T", texts, ""), None).cast(data_type, safe=False)


def _as_utc(array: Any) -> Any:
    return array if array.type.tz else pc.assume_timezone(array, "UTC")


def _normalised(texts: Any) -> Any:
    """Texts as pyarrow reads them: at most six digits of a second, capital letters, no space at the zone."""
    if not pc.all(pc.match_substring_regex(texts, _MOMENT), min_count=0).as_py():
        raise pa.ArrowInvalid("not a timestamp")
    texts = pc.utf8_upper(texts)
    texts = pc.replace_substring_regex(texts, r"[.,]([0-9]{1,6})[0-9]*", r".\1")
    return pc.replace_substring_regex(texts, r"(:[0-9.]+) ([Z+-])", r"\1\2")


def _naive_or_zoned(texts: Any) -> Any:
    with_clock = pc.match_substring(texts, ":")
    zoned = pc.and_(with_clock, pc.match_substring_regex(texts, _ZONE))
    no_text = pa.scalar(None, pa.string())
    with_zone = pc.if_else(zoned, texts, no_text).cast(_UTC_MICROSECONDS)
    naive = pc.if_else(zoned, no_text, texts).cast(pa.timestamp("us"))
    return pc.coalesce(with_zone, _as_utc(naive))


def _pattern_texts(texts: Any, pattern: Pattern, *, with_clock: bool) -> Any:
    """Texts of a pattern rewritten as ISO 8601."""
    parts = pc.extract_regex(texts, pattern.expression)
    _all_matched(texts, parts, repr(pattern.text))
    found = {parts.type.field(index).name: parts.field(index) for index in range(parts.type.num_fields)}
    day = pc.binary_join_element_wise(_year(found), _month(found), _two(pc.utf8_trim(found["day"], " ")), "-")
    if not with_clock:
        return _where_valid(texts, day)
    clock = pc.binary_join_element_wise(_hour(found), _part(found, "minute"), _part(found, "second"), ":")
    fraction = _or_else(found.get("fraction"), texts, "0")
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(fraction, 6, "0"), 0, 6)
    zone = _or_else(found.get("zone"), texts, "Z")
    zone = pc.replace_substring_regex(pc.utf8_upper(zone), "UTC|GMT", "Z")
    text = pc.binary_join_element_wise(day, "T", clock, ".", fraction, zone, "")
    return _where_valid(texts, text)


def _year(found: dict[str, Any]) -> Any:
    year = found.get("year")
    return year if year is not None else pc.binary_join_element_wise("20", found["year2"], "")


def _month(found: dict[str, Any]) -> Any:
    if "month" in found:
        return _two(found["month"])
    short = pc.utf8_slice_codeunits(pc.utf8_lower(found["month_name"]), 0, 3)
    number = pc.index_in(short, value_set=pa.array(MONTHS))
    if pc.any(pc.and_(pc.is_valid(short), pc.is_null(number))).as_py():
        raise pa.ArrowInvalid("not a month")
    return _two(pc.add(number, 1).cast(pa.string()))


def _hour(found: dict[str, Any]) -> Any:
    if "hour12" not in found or "half" not in found:
        return _part(found, "hour12" if "hour12" in found else "hour")
    hour = pc.if_else(pc.equal(found["hour12"], ""), "12", found["hour12"]).cast(pa.int32())
    if pc.any(pc.or_(pc.less(hour, 1), pc.greater(hour, 12))).as_py():
        raise pa.ArrowInvalid("not an hour of twelve")
    afternoon = pc.starts_with(pc.utf8_lower(found["half"]), "p")
    hour = pc.if_else(pc.equal(hour, 12), 0, hour)
    return _two(pc.if_else(afternoon, pc.add(hour, 12), hour).cast(pa.string()))


def _part(found: dict[str, Any], name: str) -> Any:
    return _two(_or_else(found.get(name), found["day"], "0"))


def _or_else(part: Any, like: Any, default: str) -> Any:
    """The part, or a default where the pattern lacks it or the text left it out."""
    if part is None:
        return pc.if_else(pc.is_valid(like), pa.scalar(default), pa.scalar(None, pa.string()))
    return pc.if_else(pc.equal(part, ""), default, part)


def _two(texts: Any) -> Any:
    return pc.utf8_lpad(texts, 2, "0")


def _all_matched(texts: Any, parts: Any, what: str) -> None:
    if parts.null_count > texts.null_count:
        raise pa.ArrowInvalid(f"not in the format {what}")


def _where_valid(texts: Any, made: Any) -> Any:
    return pc.if_else(pc.is_valid(texts), made, pa.scalar(None, pa.string()))
