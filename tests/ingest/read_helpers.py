"""Reading small inputs from memory and looking at what was staged."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import shapefile

from odf_core.ingest.read import ReadOptions, read


def stage(step: Any, data: bytes | str, workdir: Path, **options: Any) -> Any:
    """What `read` makes of bytes (text is UTF-8) in a file of their own."""
    workdir.mkdir(exist_ok=True)
    path = workdir / "input.dat"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read(step, path, workdir / "staged", ReadOptions(**options))


def rows(staged: Any) -> list[dict[str, Any]]:
    """The staged rows, in order; holds the files against the contract on the way."""
    found: list[dict[str, Any]] = []
    for path in staged.files:
        file = pq.ParquetFile(path)
        assert file.num_row_groups == 1
        assert file.schema_arrow.names == staged.schema.names
        assert all(field.nullable for field in file.schema_arrow)
        found += file.read().to_pylist()
    assert len(found) == staged.num_records
    return found


def types(staged: Any) -> dict[str, str]:
    """Columns in order with their types; `!` marks required ones."""
    return {field.name: f"{field.type}{'' if field.nullable else '!'}" for field in staged.schema}


def parquet_bytes(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def shapefile_members(write: Callable[[Any], None], *, encoding: str = "utf-8") -> dict[str, bytes]:
    """The files of a shapefile by suffix."""
    parts = {suffix: io.BytesIO() for suffix in (".shp", ".shx", ".dbf")}
    writer = shapefile.Writer(shp=parts[".shp"], shx=parts[".shx"], dbf=parts[".dbf"], encoding=encoding)
    write(writer)
    writer.close()
    return {suffix: part.getvalue() for suffix, part in parts.items()}


def zipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()
