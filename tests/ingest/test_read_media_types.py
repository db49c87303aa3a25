"""Which read step reads which media type."""

import pytest

from odf_core.ingest.read import (
    INPUT_FORMATS,
    MEDIA_TYPES,
    UnsupportedMediaType,
    guess_media_type,
    media_type_of_format,
    media_type_of_step,
    read_step_for,
)
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeString,
    ReadStepCsv,
    ReadStepEsriShapefile,
    ReadStepGeoJson,
    ReadStepJson,
    ReadStepNdGeoJson,
    ReadStepNdJson,
    ReadStepParquet,
)

KINDS = {
    "text/csv": ReadStepCsv,
    "application/json": ReadStepJson,
    "application/x-ndjson": ReadStepNdJson,
    "application/geo+json": ReadStepGeoJson,
    "application/x-ndgeojson": ReadStepNdGeoJson,
    "application/vnd.shp": ReadStepEsriShapefile,
    "application/vnd.apache.parquet": ReadStepParquet,
}
SCHEMA = DataSchema(fields=(DataField(name="a", type=DataTypeString()),))


@pytest.mark.parametrize(("media_type", "kind"), KINDS.items())
def test_each_media_type_has_its_step(media_type, kind):
    assert type(read_step_for(media_type, None)) is kind
    assert media_type_of_step(kind()) == media_type
    assert media_type in MEDIA_TYPES


def test_the_declared_step_reads_its_own_kind_with_all_its_options():
    declared = ReadStepCsv(separator=";", header=False)
    assert read_step_for("Text/CSV; charset=utf-8", declared) is declared


@pytest.mark.parametrize("media_type", KINDS)
def test_other_kinds_keep_the_schema(media_type):
    for schema in ({"ddl_schema": ("a STRING",)}, {"schema": SCHEMA}):
        declared = ReadStepCsv(**schema) if media_type != "text/csv" else ReadStepNdJson(**schema)
        step = read_step_for(media_type, declared)
        assert type(step) is KINDS[media_type]
        assert (step.ddl_schema, step.schema) == (declared.ddl_schema, declared.schema)


def test_csv_in_place_of_another_kind_has_a_header_where_there_is_no_schema():
    assert read_step_for("text/csv", ReadStepNdJson(ddl_schema=("a INT",))) == ReadStepCsv(
        ddl_schema=("a INT",), header=False
    )
    assert read_step_for("text/csv", ReadStepNdJson(schema=SCHEMA)).header is False
    assert read_step_for("text/csv", ReadStepNdJson()).header is True
    assert read_step_for("text/csv", None).header is True


@pytest.mark.parametrize("media_type", ["", "text/html", "csv", "application/octet-stream", "x" * 1000])
def test_others_are_refused(media_type):
    with pytest.raises(UnsupportedMediaType, match="text/csv"):
        read_step_for(media_type, ReadStepCsv())


def test_names_of_files_and_formats():
    assert guess_media_type("a/b.CSV") == "text/csv"
    assert guess_media_type("x.geojson") == "application/geo+json"
    assert guess_media_type("x.jsonl") == "application/x-ndjson"
    assert guess_media_type("x.zip") is None
    assert guess_media_type("csv") is None
    assert {media_type_of_format(name) for name in INPUT_FORMATS} == set(MEDIA_TYPES)
    with pytest.raises(UnsupportedMediaType, match="ndjson"):
        media_type_of_format("xml")
