"""The corpus of bad inputs, each named by its defect: one sentence with the place, and nothing left over."""

from pathlib import Path

import pytest

from odf_core.ingest.read import (
    DuplicateInputColumn,
    InputLimitExceeded,
    MalformedInput,
    ReadOptions,
    UnexpectedInputShape,
    ValueDoesNotFit,
    WrongInputEncoding,
    read,
)
from odf_core.metadata import (
    ReadStepCsv,
    ReadStepEsriShapefile,
    ReadStepGeoJson,
    ReadStepJson,
    ReadStepNdGeoJson,
    ReadStepNdJson,
    ReadStepParquet,
)

BAD = Path(__file__).parent / "bad"
CITIES = ("date DATE", "city STRING", "population INT")
CSV = ReadStepCsv(header=True)
TYPED = ReadStepCsv(header=True, ddl_schema=CITIES)
LINES, LINES_TYPED = ReadStepNdJson(), ReadStepNdJson(ddl_schema=("population INT", "tags ARRAY<STRING>"))
JSON, GEO, SHAPES, PARQUET = ReadStepJson(), ReadStepGeoJson(), ReadStepEsriShapefile(), ReadStepParquet()

# File: read step, error, the place in it, words of its sentence.
CORPUS = {
    "row-too-short.csv": (CSV, MalformedInput, {"row": 2}, "2 values where 3 are due"),
    "row-too-long.csv": (CSV, MalformedInput, {"row": 2}, "4 values where 3 are due"),
    "latin-1-in-utf8.csv": (CSV, WrongInputEncoding, {"byte": 51}, "encoding"),
    "utf-16-in-utf8.csv": (CSV, WrongInputEncoding, {"byte": 0}, "encoding: utf-16"),
    "gzipped.csv": (CSV, WrongInputEncoding, {"byte": 0}, "compressed by gzip"),
    "gzipped.ndjson": (LINES, WrongInputEncoding, {"byte": 0}, "compressed by gzip"),
    "gzipped.json": (JSON, WrongInputEncoding, {"byte": 0}, "compressed by gzip"),
    "quote-never-closed.csv": (CSV, MalformedInput, {"row": 2}, "2 values where 3 are due"),
    "cut-off-in-quotes.csv": (CSV, MalformedInput, {}, "cut off"),
    "int32-overflow.csv": (TYPED, ValueDoesNotFit, {"row": 2, "column": "population"}, "'3000000000'"),
    "float-in-int.csv": (TYPED, ValueDoesNotFit, {"row": 2, "column": "population"}, "'2000.5'"),
    "thousands-separator.csv": (TYPED, ValueDoesNotFit, {"row": 2, "column": "population"}, "'2,000'"),
    "no-such-day.csv": (TYPED, ValueDoesNotFit, {"row": 2, "column": "date"}, "'2020-02-30'"),
    "american-date.csv": (TYPED, ValueDoesNotFit, {"row": 2, "column": "date"}, "in the format rfc3339"),
    "duplicate-column.csv": (CSV, DuplicateInputColumn, {"column": "city"}, "rename"),
    "fewer-columns-than-schema.csv": (TYPED, MalformedInput, {}, "2 columns where"),
    "wrong-separator.csv": (TYPED, MalformedInput, {}, "the separator is ','"),
    "truncated-line.ndjson": (LINES, MalformedInput, {"row": 2}, "no JSON"),
    "array-on-a-line.ndjson": (LINES, UnexpectedInputShape, {"row": 2}, "an array stands where an object"),
    "object-in-array-column.ndjson": (LINES_TYPED, UnexpectedInputShape, {"row": 2, "column": "tags"}, "an"),
    "int32-overflow.ndjson": (LINES_TYPED, ValueDoesNotFit, {"row": 2, "column": "population"}, "3000000000"),
    "float-in-int.ndjson": (LINES_TYPED, ValueDoesNotFit, {"row": 2, "column": "population"}, "'1.5'"),
    "latin-1-in-utf8.ndjson": (LINES, WrongInputEncoding, {"byte": 25}, "encoding"),
    "single-quotes.ndjson": (LINES, MalformedInput, {"row": 1}, "no JSON"),
    "not-a-number.ndjson": (LINES, MalformedInput, {"row": 1}, "no JSON"),
    "object-where-array.json": (JSON, UnexpectedInputShape, {}, "subPath"),
    "no-such-sub-path.json": (ReadStepJson(sub_path="data.records"), UnexpectedInputShape, {}, "nothing at"),
    "truncated.json": (JSON, MalformedInput, {"row": 2}, "cut off"),
    "trailing-garbage.json": (JSON, MalformedInput, {"row": 2}, "no JSON"),
    "number-in-array.json": (JSON, UnexpectedInputShape, {"row": 2}, "a number stands where an object"),
    "latin-1-in-utf8.json": (JSON, WrongInputEncoding, {"byte": 27}, "encoding"),
    "nested-too-deeply.json": (JSON, InputLimitExceeded, {"row": 1}, "nested deeper"),
    "comma-behind-the-last.json": (JSON, MalformedInput, {"row": 2}, "no JSON"),
    "single-feature.geojson": (GEO, UnexpectedInputShape, {}, "'Feature'"),
    "no-geojson.geojson": (GEO, UnexpectedInputShape, {}, "FeatureCollection is due"),
    "feature-without-type.geojson": (GEO, UnexpectedInputShape, {"row": 2}, "no Feature"),
    "property-named-geometry.geojson": (GEO, DuplicateInputColumn, {"row": 1, "column": "geometry"}, "name"),
    "collection-on-a-line.ndgeojson": (ReadStepNdGeoJson(), UnexpectedInputShape, {"row": 1}, "no Feature"),
    "no-archive.shp.zip": (SHAPES, MalformedInput, {}, "no zip archive"),
    "no-attributes.shp.zip": (SHAPES, MalformedInput, {}, "no .dbf file"),
    "two-layers.shp.zip": (SHAPES, MalformedInput, {}, "subPath"),
    "climbs-out.shp.zip": (SHAPES, MalformedInput, {}, "climbs out"),
    "truncated-geometries.shp.zip": (SHAPES, MalformedInput, {"row": 1}, "cut off"),
    "truncated-archive.shp.zip": (SHAPES, MalformedInput, {}, "no zip archive"),
    "truncated.parquet": (PARQUET, MalformedInput, {}, "no Parquet file"),
    "no-parquet.parquet": (PARQUET, MalformedInput, {}, "no Parquet file"),
    "duplicate-column.parquet": (PARQUET, DuplicateInputColumn, {"column": "a"}, "rename"),
    "int32-overflow.parquet": (
        ReadStepParquet(ddl_schema=("population INT",)), ValueDoesNotFit, {"row": 2, "column": "population"},
        "3000000000",
    ),
}  # fmt: skip


def test_each_file_of_the_corpus_has_its_sentence():
    assert {path.name for path in BAD.iterdir()} == CORPUS.keys()


@pytest.mark.parametrize("name", CORPUS)
def test_a_bad_input_is_refused_in_one_sentence(tmp_path, name):
    step, error, place, words = CORPUS[name]
    with pytest.raises(error) as caught:
        read(step, BAD / name, tmp_path, ReadOptions(name="upload 7"))
    assert caught.value.extras == {"file": "upload 7", **place}
    assert words in caught.value.message
    assert "'upload 7'" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 400
    assert list(tmp_path.iterdir()) == []
