"""What a watermark closes: rows that come too late, and rows that may leave the state."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.engines.spark.transforms.shape import Shape
from odf_core.metadata import Timestamp

_MICROS = pa.timestamp("us", "UTC")


@dataclass(frozen=True, slots=True)
class Closing:
    """The rows of linear parts as a watermark sees them; `table` has their columns as `c<position>`."""

    shape: Shape

    @property
    def happens(self) -> bool:
        """Whether a watermark closes anything of this query."""
        return bool(self.shape.window_keys()) or self.shape.spans is not None

    def late(self, table: pa.Table, number: int, watermark: Timestamp) -> Any:
        """Which rows come after what they belong to was closed."""
        if self.shape.window_keys():
            return self.in_closed_window(table, number, watermark)
        return self._after(table, number, watermark, is_held=False)

    def leaving(self, table: pa.Table, number: int, watermark: Timestamp) -> Any:
        """Which rows can no longer change anything."""
        if self.shape.window_keys():
            return self.in_closed_window(table, number, watermark)
        return self._after(table, number, watermark, is_held=True)

    def in_closed_window(self, table: pa.Table, number: int, watermark: Timestamp) -> Any:
        """Which rows are in a window that ends at or before the watermark."""
        mark = pa.scalar(watermark.to_datetime(), _MICROS)
        found: Any = None
        for index in self.shape.window_keys():
            ends = table.column(f"c{self.shape.keys[index][number]}.1").cast(_MICROS)
            closed = pc.fill_null(pc.less_equal(ends, mark), False)
            found = closed if found is None else pc.or_(found, closed)
        return found

    def _after(self, table: pa.Table, number: int, watermark: Timestamp, *, is_held: bool) -> Any:
        """A row at the watermark may still come, so what it could join stays."""
        spans = self.shape.spans or {}
        span = spans[number]
        mark = pa.scalar(watermark.to_datetime(), _MICROS).cast(pa.int64()).as_py()
        since = mark - (span.held if is_held else span.accepted)
        times = table.column(f"c{span.place}").cast(_MICROS).cast(pa.int64())
        return pc.fill_null(pc.less(times, pa.scalar(since, pa.int64())), False)
