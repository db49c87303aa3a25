"""How prepared bytes become records (metadata.md 1).

`ddl_schema` is the list of column definitions that ODF 0.36 called `schema`; since 0.38 `schema` is an
ODF schema. Both are read from manifests; they are told apart by their JSON type (metadata.md 5.8).
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.metadata.declare import FormerName, UnionOf
from odf_core.metadata.schema_types import DataSchema

DdlSchema: TypeAlias = Annotated[tuple[str, ...] | None, FormerName("schema", list)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepCsv:
    """Delimited text."""

    ddl_schema: DdlSchema = None
    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None
    escape: str | None = None
    header: bool | None = None
    infer_schema: bool | None = None
    null_value: str | None = None
    date_format: str | None = None
    timestamp_format: str | None = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepGeoJson:
    """A GeoJSON feature collection."""

    ddl_schema: DdlSchema = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepEsriShapefile:
    """An ESRI shapefile; `sub_path` chooses one of an archive."""

    ddl_schema: DdlSchema = None
    sub_path: str | None = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepParquet:
    """Apache Parquet."""

    ddl_schema: DdlSchema = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepJson:
    """A JSON document; `sub_path` leads to the array of records."""

    sub_path: str | None = None
    ddl_schema: DdlSchema = None
    date_format: str | None = None
    encoding: str | None = None
    timestamp_format: str | None = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepNdJson:
    """One JSON object a line."""

    ddl_schema: DdlSchema = None
    date_format: str | None = None
    encoding: str | None = None
    timestamp_format: str | None = None
    schema: DataSchema | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStepNdGeoJson:
    """One GeoJSON feature a line."""

    ddl_schema: DdlSchema = None
    schema: DataSchema | None = None


ReadStep: TypeAlias = Annotated[
    ReadStepCsv
    | ReadStepGeoJson
    | ReadStepEsriShapefile
    | ReadStepParquet
    | ReadStepJson
    | ReadStepNdJson
    | ReadStepNdGeoJson,
    UnionOf("ReadStep", prefix="ReadStep"),
]
"""How records are read from prepared bytes."""
