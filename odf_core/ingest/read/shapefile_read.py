"""The EsriShapefile read step: a zip archive with one or several shapefiles (data.md 3.2)."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import shapefile

from odf_core.ingest.read.convert import Formats
from odf_core.ingest.read.errors import DuplicateInputColumn, MalformedInput, WrongInputEncoding
from odf_core.ingest.read.geojson import GEOMETRY, geometry_text
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.records import Record, stage_records
from odf_core.ingest.read.shapefile_archive import Layer, extract_layer
from odf_core.ingest.values import StagedInput
from odf_core.metadata import ReadStepEsriShapefile

_CHUNK_ROWS = 512
_CHUNK_LETTERS = 1 << 20
# What the shapefile library raises on bytes that are none.
_FAULTS = (
    shapefile.ShapefileException,
    ValueError,
    LookupError,
    TypeError,
    OSError,
    EOFError,
    AttributeError,
)


def read_shapefile(
    step: ReadStepEsriShapefile,
    schema: Any | None,
    path: Path,
    workdir: Path,
    options: ReadOptions,
    progress: ReadProgress | None,
) -> StagedInput | None:
    """Stages the attributes of a shapefile's records and their `geometry` as GeoJSON text, by name.

    Numbers are float64 unless declared otherwise; dates, unless declared, are text without padding
    (`2020-1-5`), as the deployed reader writes them.
    """
    name = options.name or path.name
    with TemporaryDirectory(dir=workdir, prefix="shapefile-") as folder:
        layer = extract_layer(path, step.sub_path, Path(folder), name=name, most_bytes=options.archive_bytes)
        return stage_records(
            _chunks(layer, name), schema, Formats(), workdir, options, name,
            bytes_read=path.stat().st_size.__int__, progress=progress,
        )  # fmt: skip


def _chunks(layer: Layer, name: str) -> Iterator[list[Record]]:
    chunk: list[Record] = []
    letters = 0
    for record in _records(layer, name):
        chunk.append(record)
        letters += len(record[GEOMETRY] or "")
        if len(chunk) >= _CHUNK_ROWS or letters >= _CHUNK_LETTERS:
            yield chunk
            chunk, letters = [], 0
    if chunk:
        yield chunk


def _records(layer: Layer, name: str) -> Iterator[Record]:
    row = 0
    try:
        with shapefile.Reader(
            shp=str(layer.shp), dbf=str(layer.dbf), encoding=layer.encoding, encodingErrors="strict"
        ) as reader:
            names = [field[0] for field in reader.fields if field[0] != "DeletionFlag"]
            if GEOMETRY in names or len(set(names)) < len(names):
                raise DuplicateInputColumn.at(
                    name, "two attributes have one name, or one has the geometry's."
                )
            for found in reader.iterShapeRecords():
                row += 1
                yield _record(names, found)
    except UnicodeDecodeError as error:
        raise WrongInputEncoding.at(
            name,
            f"an attribute is no {layer.encoding}; add a .cpg file with the encoding's name to the archive.",
            row=row + 1,
        ) from error
    except _FAULTS as error:
        raise MalformedInput.at(
            name, f"the shapefile {layer.member!r} cannot be read ({str(error)[:120]}).", row=row + 1
        ) from error


def _record(names: list[str], found: Any) -> Record:
    values = [_attribute(value) for value in found.record]
    record: Record = dict(zip(names, values, strict=True))
    shape = found.shape
    empty = shape is None or shape.shapeType == shapefile.NULL
    record[GEOMETRY] = None if empty else geometry_text(shape.__geo_interface__)
    return record


def _attribute(value: Any) -> Any:
    if isinstance(value, str):
        return value or None
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
