"""The records that stand (data.md 6), folded in memory from the slices: for datasets that fit there."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from odf_core.data.changelog import fold
from odf_core.data.records.tail import OpenSlice, TailRange, read_tail
from odf_core.data.slices.vocabulary import Vocabulary
from odf_core.errors import LimitExceeded
from odf_core.limits import Limits
from odf_core.metadata import DataSlice, SetDataSchema, Timestamp

STATE_BYTES = 1 << 30
"""How many bytes of slices are folded in memory, if nothing else is said."""
_ALL = 1 << 62


class StateTooLarge(LimitExceeded):
    """More data than is folded in memory."""

    code: ClassVar[str] = "state_too_large"


def read_state(
    slices: Iterable[DataSlice],
    open_slice: OpenSlice,
    schema: SetDataSchema | None,
    vocabulary: Vocabulary,
    primary_key: Sequence[str] | None,
    wanted: TailRange,
    *,
    at: Timestamp | None = None,
    max_bytes: int = STATE_BYTES,
    limits: Limits | None = None,
) -> Any:
    """A `pa.Table` of the records that stand, as `fold` tells them: the wanted ones of them, ascending by
    offset, with the offset, operation and times of the record that last said each.

    `slices` come newest first. Raises `StateTooLarge`, and what `read_tail` raises.
    """
    needed: list[DataSlice] = []
    for item in slices:
        if wanted.as_of is None or item.offset_interval.start <= wanted.as_of:
            needed.append(item)
    size = sum(item.size for item in needed)
    if size > max_bytes:
        raise StateTooLarge(
            f"The state would be folded of {size} bytes of data; {max_bytes} are folded in memory. Ask "
            f"for it in SQL, by to_table(…).",
            extras={"size": size, "max_bytes": max_bytes},
        )
    everything = TailRange(limit=_ALL, as_of=wanted.as_of)
    records = read_tail(needed, open_slice, schema, everything, limits=limits)
    if not records.num_columns:
        return records
    standing = fold(records, vocabulary, primary_key, at=at)
    stop = max(0, standing.num_rows - wanted.skip)
    start = max(0, stop - wanted.limit)
    return standing.slice(start, stop - start)
