"""GeoJSON features as records: their properties, and `geometry` as text (data.md 3.2)."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from odf_core.ingest.read.errors import DuplicateInputColumn, MalformedInput, UnexpectedInputShape
from odf_core.ingest.read.json_columns import kind_of
from odf_core.ingest.read.json_document import JsonSource
from odf_core.ingest.read.records import Record

GEOMETRY = "geometry"
_ADVICE = "; a GeoJSON input is one FeatureCollection, and NdGeoJson one Feature a line"


def geometry_text(geometry: Any) -> str | None:
    """A geometry as compact JSON with its keys in alphabetical order; raises `ValueError` if too deep."""
    return None if geometry is None else orjson.dumps(geometry, option=orjson.OPT_SORT_KEYS).decode()


def require_collection(source: JsonSource, file: str) -> None:
    """Raises `UnexpectedInputShape` unless the document's root is a FeatureCollection.

    A `type` behind the features is not waited for: it may be gigabytes away.
    """
    found = source.find("type", "features")
    if found is not None and (found[0] == "features" or found[2] == "FeatureCollection"):
        return
    what = f"of the type {str(found[2])[:40]!r}" if found is not None else "no GeoJSON object"
    raise UnexpectedInputShape.at(file, f"the document is {what} where a FeatureCollection is due{_ADVICE}.")


def feature_records(chunks: Iterable[list[Record]], file: str) -> Iterator[list[Record]]:
    """Chunks of features as chunks of records; raises what `_record` raises, with the row."""
    row = 0
    for chunk in chunks:
        records = [_record(feature, file, row + index) for index, feature in enumerate(chunk, start=1)]
        row += len(chunk)
        yield records


def _record(feature: Record, file: str, row: int) -> Record:
    if feature.get("type") != "Feature":
        raise UnexpectedInputShape.at(
            file, f"an object of the type {str(feature.get('type'))[:40]!r} is no Feature{_ADVICE}.", row=row
        )
    properties = feature.get("properties")
    if properties is not None and not isinstance(properties, dict):
        raise UnexpectedInputShape.at(
            file, f"{kind_of(properties)} stands where the properties, an object, are due.", row=row
        )
    record: Record = dict(properties or {})
    if GEOMETRY in record:
        raise DuplicateInputColumn.at(
            file, "a property has the name of the geometry's column; rename it.", row=row, column=GEOMETRY
        )
    try:
        record[GEOMETRY] = geometry_text(feature.get("geometry"))
    except (TypeError, ValueError) as error:
        raise MalformedInput.at(
            file, f"its geometry cannot be written as text ({error}).", row=row
        ) from error
    return record
