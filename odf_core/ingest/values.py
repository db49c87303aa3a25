"""What the phases of an ingest hand to one another."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class StagedInput:
    """Records as the read phase leaves them and the engine takes them.

    `files` are Parquet files in the order of the source, each small enough to be one split of the
    engine, and () where there are no records; `schema` is their Arrow schema, nullability included:
    timestamps in microseconds UTC or coarser, never dictionaries. `has_read_schema` says whether the
    read step declared a schema.
    """

    files: tuple[Path, ...]
    schema: pa.Schema
    num_records: int
    has_read_schema: bool
