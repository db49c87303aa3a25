"""Types of CSV columns from a sample of their texts (data.md 3.2: the first 1000 rows)."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.ingest.read.convert import Formats, convert_texts
from odf_core.ingest.read.errors import ValueDoesNotFit
from odf_core.ingest.read.places import Place
from odf_core.ingest.read.temporal import DATE

_INTEGER = r"^-?[0-9]+$"
_NUMBER = r"^-?([0-9]*\.[0-9]+|[0-9]+\.?[0-9]*)([eE][-+]?[0-9]+)?$"
_BOOLEAN = r"^(?i)(true|false)$"
_PLACE = Place("sample", "sample", 1)


def infer_column(texts: Any, formats: Formats) -> Any:
    """The type of a column: int64, float64, boolean, date, timestamp, or string.

    A column without a value is a string column; so is one of integers too large for 64 bits, which as
    floats would lose digits.
    """
    known = texts.drop_null()
    if not len(known):
        return pa.string()
    if _all_match(known, _INTEGER):
        return pa.int64() if _fits(known, pa.int64(), formats) else pa.string()
    if _all_match(known, _NUMBER):
        return pa.float64()
    if _all_match(known, _BOOLEAN):
        return pa.bool_()
    return _moment_type(known, formats)


def _moment_type(known: Any, formats: Formats) -> Any:
    dates_alone = formats.date is not None or _all_match(known, DATE)
    if dates_alone and _fits(known, pa.date32(), formats):
        return pa.date32()
    microseconds = pa.timestamp("us", "UTC")
    if not _fits(known, microseconds, formats):
        return pa.string()
    finer = pc.match_substring_regex(known, r"[.,][0-9]{4,}")
    return microseconds if pc.any(finer).as_py() else pa.timestamp("ms", "UTC")


def _all_match(texts: Any, expression: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, expression)).as_py())


def _fits(texts: Any, data_type: Any, formats: Formats) -> bool:
    try:
        convert_texts(texts, data_type, formats, _PLACE)
    except ValueDoesNotFit:
        return False
    return True
