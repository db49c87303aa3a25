"""Media types, file names and read steps (data.md 3.2)."""

from pathlib import PurePath

from odf_core.ingest.read.errors import UnsupportedMediaType
from odf_core.metadata import (
    ReadStep,
    ReadStepCsv,
    ReadStepEsriShapefile,
    ReadStepGeoJson,
    ReadStepJson,
    ReadStepNdGeoJson,
    ReadStepNdJson,
    ReadStepParquet,
)

_STEPS: dict[str, type[ReadStep]] = {
    "text/csv": ReadStepCsv,
    "application/json": ReadStepJson,
    "application/x-ndjson": ReadStepNdJson,
    "application/geo+json": ReadStepGeoJson,
    "application/x-ndgeojson": ReadStepNdGeoJson,
    "application/vnd.shp": ReadStepEsriShapefile,
    "application/vnd.apache.parquet": ReadStepParquet,
}
_EXTENSIONS = {
    "csv": "text/csv",
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "jsonl": "application/x-ndjson",
    "geojson": "application/geo+json",
    "ndgeojson": "application/x-ndgeojson",
    "geojsonl": "application/x-ndgeojson",
    "shp": "application/vnd.shp",
    "esri-shapefile": "application/vnd.shp",
    "parquet": "application/vnd.apache.parquet",
}

MEDIA_TYPES = tuple(_STEPS)
"""The media types that can be read."""

INPUT_FORMATS = ("csv", "json", "ndjson", "geojson", "ndgeojson", "shp", "parquet")
"""Short names of the formats, for a command line."""


def media_type_of_step(step: ReadStep) -> str:
    """The media type that a read step reads."""
    return next(media_type for media_type, kind in _STEPS.items() if isinstance(step, kind))


def media_type_of_format(name: str) -> str:
    """The media type of a short name (`INPUT_FORMATS`); raises `UnsupportedMediaType`."""
    media_type = _EXTENSIONS.get(name.strip().lower().lstrip("."))
    if media_type is None:
        raise UnsupportedMediaType(
            f"The input format {name!r} is not known; the formats are {', '.join(INPUT_FORMATS)}.",
            objects=[name],
        )
    return media_type


def guess_media_type(file_name: str) -> str | None:
    """The media type that a file's name suggests; None where it suggests none."""
    return _EXTENSIONS.get(PurePath(file_name).suffix.lower().lstrip("."))


def read_step_for(media_type: str, declared: ReadStep | None) -> ReadStep:
    """The read step for data of a media type that come to a source which declares `declared`.

    Data of the declared kind are read as declared; others by the defaults of their kind with the declared
    schema, and CSV then has a header only where there is no schema. Parameters of the media type are
    passed over. Raises `UnsupportedMediaType`.
    """
    essence = media_type.partition(";")[0].strip().lower()
    kind = _STEPS.get(essence)
    if kind is None:
        raise UnsupportedMediaType(
            f"Data of the media type {media_type[:80]!r} cannot be read; those that can are "
            f"{', '.join(MEDIA_TYPES)}.",
            objects=[media_type[:80]],
        )
    if isinstance(declared, kind):
        return declared
    ddl_schema = declared.ddl_schema if declared is not None else None
    schema = declared.schema if declared is not None else None
    if kind is ReadStepCsv:
        return ReadStepCsv(ddl_schema=ddl_schema, schema=schema, header=not ddl_schema and schema is None)
    return kind(ddl_schema=ddl_schema, schema=schema)
