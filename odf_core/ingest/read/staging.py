"""Record batches into staged Parquet files, each one split of the engine."""

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.ingest.read.staged_types import physical_schema
from odf_core.ingest.values import StagedInput


class StagingWriter:
    """Writes batches as files of about `split_bytes` of Arrow memory, one row group each.

    `schema` is the declared (staged) schema; batches come, and files are written, in its nullable form
    (`physical_schema`): a null in a required column is for the writer of the slice to tell (data.md 3.5,
    step 7), not for the reader. Files are written by a thread of their own, one behind the reading, so at
    most three splits are in memory. Left with an error, the files made so far are removed.
    """

    def __init__(self, workdir: Path, schema: Any, *, split_bytes: int, prefix: str = "part") -> None:
        self.schema = schema
        self.physical = physical_schema(schema)
        self.num_records = 0
        self._workdir = workdir
        self._prefix = prefix
        self._split_bytes = split_bytes
        self._held: list[Any] = []
        self._held_bytes = 0
        self._files: list[Path] = []
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="odf-staging")
        self._writing: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True)
        if error is not None:
            for file in self._files:
                file.unlink(missing_ok=True)

    def write(self, batch: Any) -> None:
        """Takes a batch of the physical schema; raises what an earlier file could not be written for."""
        for piece in self._pieces(batch):
            size = piece.nbytes
            if self._held_bytes + size > self._split_bytes:
                self._cut()
            self._held.append(piece)
            self._held_bytes += size
            self.num_records += len(piece)

    def finish(self, *, has_read_schema: bool) -> StagedInput:
        """The staged records; call it once, at the end."""
        self._cut()
        self._await()
        return StagedInput(tuple(self._files), self.schema, self.num_records, has_read_schema)

    def _pieces(self, batch: Any) -> Iterable[Any]:
        """The batch, or parts of it where it is larger than a split."""
        parts = min(len(batch), -(-batch.nbytes // self._split_bytes))
        if parts <= 1:
            return [batch] if len(batch) else []
        rows = -(-len(batch) // parts)
        return [batch.slice(start, rows) for start in range(0, len(batch), rows)]

    def _cut(self) -> None:
        if not self._held:
            return
        self._await()
        table = pa.Table.from_batches(self._held, self.physical)
        self._held, self._held_bytes = [], 0
        path = self._workdir / f"{self._prefix}-{len(self._files):06d}.parquet"
        self._files.append(path)
        self._writing = self._pool.submit(_write_file, table, path)

    def _await(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None


def _write_file(table: Any, path: Path) -> None:
    """One row group: it is read once and thrown away, so neither dictionaries nor statistics pay."""
    pq.write_table(
        table, path, row_group_size=len(table), compression="snappy", use_dictionary=False,
        write_statistics=False,
    )  # fmt: skip
