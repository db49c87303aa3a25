"""The EsriShapefile read step: a zip archive with one or several shapefiles (data.md 3.2)."""

import struct
from collections.abc import Iterator
from itertools import zip_longest
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

_MISSING = object()
_CHUNK_ROWS = 512
_CHUNK_LETTERS = 1 << 20
# What the shapefile library raises on bytes that are none.
_FAULTS = (
    shapefile.ShapefileException,
    struct.error,
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
        _require_whole(layer)
        with shapefile.Reader(
            shp=str(layer.shp), dbf=str(layer.dbf), encoding=layer.encoding, encodingErrors="strict"
        ) as reader:
            names = [field[0] for field in reader.fields if field[0] != "DeletionFlag"]
            if GEOMETRY in names or len(set(names)) < len(names):
                raise DuplicateInputColumn.at(
                    name, "two attributes have one name, or one has the geometry's."
                )
            for shape, attributes in _pairs(reader):
                row += 1
                yield _record(names, shape, attributes)
    except _FAULTS as error:
        if "decode" in str(error):
            raise WrongInputEncoding.at(
                name,
                f"an attribute is no {layer.encoding}; add a .cpg file that names the encoding.",
                row=row + 1,
            ) from error
        raise MalformedInput.at(
            name, f"the shapefile {layer.member!r} cannot be read ({str(error)[:120]}).", row=row + 1
        ) from error


def _require_whole(layer: Layer) -> None:
    """Raises `ValueError` where there are fewer geometries than their header tells (in words of 16 bits)."""
    with layer.shp.open("rb") as file:
        head = file.read(28)
    if layer.shp.stat().st_size < 2 * int.from_bytes(head[24:28], "big"):
        raise ValueError("its geometries are cut off")


def _pairs(reader: Any) -> Iterator[tuple[Any, Any]]:
    """Shapes and their attributes; those that are marked as deleted are passed over in both files."""
    shapes, records = reader.iterShapes(), reader.iterRecords(deleted_as_None=True)
    for shape, attributes in zip_longest(shapes, records, fillvalue=_MISSING):
        if shape is _MISSING or attributes is _MISSING:
            fewer = "geometries" if shape is _MISSING else "attributes"
            raise ValueError(f"it has fewer {fewer} than the other file has records; it is cut off")
        if attributes is not None:
            yield shape, attributes


def _record(names: list[str], shape: Any, attributes: Any) -> Record:
    values = [_attribute(value) for value in attributes]
    record: Record = dict(zip(names, values, strict=True))
    empty = shape is None or shape.shapeType == shapefile.NULL
    record[GEOMETRY] = None if empty else geometry_text(shape.__geo_interface__)
    return record


def _attribute(value: Any) -> Any:
    if isinstance(value, str):
        return value or None
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
