"""Bounds and habits of the read phase."""

from dataclasses import dataclass, field
from typing import Protocol

from odf_core.limits import GiB, Limits, MiB


class ReadProgress(Protocol):
    """Told now and then, in the thread that reads: bytes of the input and records read so far."""

    def __call__(self, bytes_read: int, records: int) -> None: ...


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Each is a documented default; sizes are bytes.

    `name` is what messages call the input (its file name if None). `split_bytes` of Arrow memory make one
    staged file. `infer_rows` are looked at where no schema is declared (data.md 3.2). `block_bytes` is
    what CSV is parsed by at a time, and so the longest CSV record; `record_bytes` is the longest record
    of the JSON formats. `archive_bytes` is the most that the members of a shapefile's archive may expand
    to. `limits` bounds Parquet inputs, columns (`slice_columns`) and nesting.
    """

    name: str | None = None
    split_bytes: int = 64 * MiB
    infer_rows: int = 1000
    block_bytes: int = 4 * MiB
    record_bytes: int = 64 * MiB
    archive_bytes: int = 4 * GiB
    limits: Limits = field(default_factory=Limits)
