"""The read phase: from prepared bytes to staged records (data.md 3.2)."""

from pathlib import Path
from typing import Any

from odf_core.ingest.read.declared import declared_schema
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.values import StagedInput
from odf_core.metadata import ReadStep, ReadStepCsv, ReadStepEsriShapefile, ReadStepParquet

DEFAULT_OPTIONS = ReadOptions()


def read(
    step: ReadStep,
    path: Path,
    workdir: Path,
    options: ReadOptions = DEFAULT_OPTIONS,
    progress: ReadProgress | None = None,
) -> StagedInput | None:
    """Reads a whole file by a read step and leaves its records in `workdir` (data.md 3.2).

    Memory is bounded by a few splits, whatever the size of the file. The staged files have every column
    nullable and hold nulls as they came; `StagedInput.schema` has the declared nullability, and who
    writes the slice tells of nulls where none may be. Zero bytes are no records where the step declares a
    schema, else no data frame, which is None; so is an input without records whose columns nobody knows.

    Raises the leaves of `odf_core.ingest.read.errors`, and `InvalidDdlSchema` or `UnsupportedArrowType` for
    the step's schema; no staged file is left behind then.
    """
    schema = declared_schema(step)
    if path.stat().st_size == 0:
        return None if schema is None else StagedInput((), schema, 0, has_read_schema=True)
    workdir.mkdir(parents=True, exist_ok=True)
    return _read(step, schema, path, workdir, options, progress)


def _read(
    step: ReadStep,
    schema: Any | None,
    path: Path,
    workdir: Path,
    options: ReadOptions,
    progress: ReadProgress | None,
) -> StagedInput | None:
    match step:  # each reader is loaded when its format comes: together they cost a tenth of a second
        case ReadStepCsv():
            from odf_core.ingest.read.csv_read import read_csv

            return read_csv(step, schema, path, workdir, options, progress)
        case ReadStepParquet():
            from odf_core.ingest.read.parquet_read import read_parquet

            return read_parquet(schema, path, workdir, options, progress)
        case ReadStepEsriShapefile():
            from odf_core.ingest.read.shapefile_read import read_shapefile

            return read_shapefile(step, schema, path, workdir, options, progress)
        case _:
            from odf_core.ingest.read.json_read import read_json

            return read_json(step, schema, path, workdir, options, progress)
