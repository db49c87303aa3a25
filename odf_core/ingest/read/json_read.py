"""The read steps Json, NdJson, GeoJson and NdGeoJson (data.md 3.2)."""

from pathlib import Path
from typing import Any, TypeAlias

from odf_core.ingest.read.convert import Formats
from odf_core.ingest.read.geojson import feature_records, require_collection
from odf_core.ingest.read.json_document import JsonSource
from odf_core.ingest.read.ndjson import NdJsonSource, exact_numbers
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.records import stage_records
from odf_core.ingest.read.text_stream import encoding_of
from odf_core.ingest.values import StagedInput
from odf_core.metadata import ReadStepGeoJson, ReadStepJson, ReadStepNdGeoJson, ReadStepNdJson

JsonStep: TypeAlias = ReadStepJson | ReadStepNdJson | ReadStepGeoJson | ReadStepNdGeoJson


def read_json(
    step: JsonStep,
    schema: Any | None,
    path: Path,
    workdir: Path,
    options: ReadOptions,
    progress: ReadProgress | None,
) -> StagedInput | None:
    """Stages one of the JSON formats, columns by name; None where there is neither a record nor a schema."""
    name = options.name or path.name
    source = _source(step, schema, path, name, options)
    chunks = source.chunks()
    formats = Formats()
    if isinstance(step, ReadStepGeoJson | ReadStepNdGeoJson):
        chunks = feature_records(chunks, name)
    else:
        formats = Formats.of(step.date_format, step.timestamp_format)
    return stage_records(
        chunks, schema, formats, workdir, options, name,
        bytes_read=lambda: source.bytes_read, progress=progress,
    )  # fmt: skip


def _source(
    step: JsonStep, schema: Any | None, path: Path, name: str, options: ReadOptions
) -> JsonSource | NdJsonSource:
    match step:
        case ReadStepJson():
            encoding = encoding_of(step.encoding)
            return JsonSource(path, encoding, step.sub_path, name=name, options=options)
        case ReadStepNdJson():
            exact = exact_numbers(schema)
            return NdJsonSource(path, encoding_of(step.encoding), name=name, options=options, exact=exact)
        case ReadStepGeoJson():
            source = JsonSource(
                path, "utf-8", "features", name=name, options=options, floats=True,
                advice="a FeatureCollection has its features there",
            )  # fmt: skip
            require_collection(source, name)
            return source
        case ReadStepNdGeoJson():
            return NdJsonSource(path, "utf-8", name=name, options=options)
