"""The footer of a Parquet file, read here before pyarrow gets to see it.

pyarrow ends the whole process on some footers that contradict themselves (a column chunk of another
physical type than its column), and tells counts of rows and nulls only through calls that may do so. So
the few facts that are needed are read directly, and what does not fit together is refused.
"""

from dataclasses import dataclass
from typing import Any

from odf_core.data.errors import DataFileLimitExceeded, InvalidDataFile
from odf_core.data.files.thrift import ThriftReader
from odf_core.limits import Limits

MAGIC = b"PAR1"
_TAIL_BYTES = 8
_REPEATED = 2

# Fields of the Thrift structs, by number (parquet.thrift).
_STATISTICS = {3: None}
_COLUMN_META = {1: None, 4: None, 5: None, 6: None, 7: None, 9: None, 11: None, 12: _STATISTICS}
_COLUMN_CHUNK = {1: None, 3: _COLUMN_META, 8: {}}
_ROW_GROUP = {1: _COLUMN_CHUNK, 3: None}
_SCHEMA_ELEMENT = {1: None, 2: None, 3: None, 4: None, 5: None}
_FILE = {2: _SCHEMA_ELEMENT, 3: None, 4: _ROW_GROUP}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of values: its path from the root, the bytes of a value where they are fixed, and whether a
    row may have more than one value."""

    path: tuple[bytes, ...]
    physical_type: int
    type_length: int
    is_repeated: bool

    @property
    def name(self) -> str:
        """The path as text, for messages."""
        return b".".join(self.path).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One column of one row group; sizes in bytes, `codec` as Parquet numbers it, `null_count` None where
    it is not told."""

    start: int
    codec: int
    compressed_size: int
    uncompressed_size: int
    num_values: int
    null_count: int | None


@dataclass(frozen=True, slots=True)
class RowGroup:
    """So many rows, and a chunk for each leaf."""

    num_rows: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Footer:
    """What a file says of itself, as far as it is needed and fits together."""

    leaves: tuple[Leaf, ...]
    row_groups: tuple[RowGroup, ...]

    @property
    def num_rows(self) -> int:
        return sum(group.num_rows for group in self.row_groups)


def read_footer(file: Any, limits: Limits) -> Footer:
    """Reads the footer of a `pa.NativeFile`; raises `InvalidDataFile` and `DataFileLimitExceeded`."""
    size = int(file.size())
    if size < len(MAGIC) + _TAIL_BYTES:
        raise InvalidDataFile(f"A file of {size} bytes is too short for Parquet.")
    file.seek(size - _TAIL_BYTES)
    tail = file.read(_TAIL_BYTES)
    if tail[4:] != MAGIC:
        raise InvalidDataFile("The file does not end as a Parquet file does.")
    length = int.from_bytes(tail[:4], "little")
    if length > size - len(MAGIC) - _TAIL_BYTES:
        raise InvalidDataFile(f"A Parquet footer of {length} bytes does not fit a file of {size} bytes.")
    _within("bytes of footer", length, limits.slice_footer_bytes)
    file.seek(size - _TAIL_BYTES - length)
    content = ThriftReader(file.read(length)).struct(_FILE)
    return _checked(content, size - _TAIL_BYTES - length, limits)


def _checked(content: dict[int, Any], data_end: int, limits: Limits) -> Footer:
    leaves = _leaves(_list(content, 2), limits)
    groups = _list(content, 4)
    _within("columns", len(leaves), limits.slice_columns)
    _within("row groups", len(groups), limits.slice_row_groups)
    _within("column chunks", len(leaves) * len(groups), limits.slice_column_chunks)
    footer = Footer(leaves, tuple(_row_group(group, leaves, data_end) for group in groups))
    _within("rows", footer.num_rows, limits.slice_rows)
    if footer.num_rows != _number(content, 3):
        raise InvalidDataFile("The row groups of a Parquet file have not as many rows as the file.")
    return footer


def _leaves(elements: list[dict[int, Any]], limits: Limits) -> tuple[Leaf, ...]:
    """Leaves of the schema, which is a list of its elements depth first, the root before all."""
    if not elements:
        raise InvalidDataFile("A Parquet file has no schema.")
    leaves: list[Leaf] = []
    open_groups: list[list[Any]] = [[_number(elements[0], 5), (), False]]
    for element in elements[1:]:
        while open_groups and open_groups[-1][0] == 0:
            open_groups.pop()
        if not open_groups:
            raise InvalidDataFile("The schema of a Parquet file has elements that belong to no group.")
        open_groups[-1][0] -= 1
        _, path, repeated = open_groups[-1]
        path = (*path, element.get(4, b""))
        repeated = repeated or element.get(3) == _REPEATED
        if element.get(5):
            _within("levels of schema", len(open_groups), limits.nesting_depth)
            open_groups.append([_number(element, 5), path, repeated])
        elif 1 in element:
            leaves.append(Leaf(path, _number(element, 1), max(0, element.get(2) or 0), repeated))
    if any(group[0] for group in open_groups):
        raise InvalidDataFile("The schema of a Parquet file ends within a group.")
    return tuple(leaves)


def _row_group(group: dict[int, Any], leaves: tuple[Leaf, ...], data_end: int) -> RowGroup:
    rows, chunks = _number(group, 3), _list(group, 1)
    if len(chunks) != len(leaves):
        raise InvalidDataFile(f"A row group has {len(chunks)} column chunks for {len(leaves)} columns.")
    pairs = zip(chunks, leaves, strict=True)
    return RowGroup(rows, tuple(_chunk(chunk, leaf, rows, data_end) for chunk, leaf in pairs))


def _chunk(chunk: dict[int, Any], leaf: Leaf, rows: int, data_end: int) -> Chunk:
    name = leaf.name
    meta = chunk.get(3)
    if not isinstance(meta, dict) or chunk.get(1) or 8 in chunk:
        raise InvalidDataFile(f"Column {name!r} is encrypted or lies in another file.")
    if meta.get(1) != leaf.physical_type:
        raise InvalidDataFile(f"Column {name!r} has chunks of another physical type than its own.")
    values, start = _number(meta, 5), _number(meta, 9)
    if meta.get(11):
        start = min(start, _number(meta, 11))
    size = _number(meta, 7)
    if start + size > data_end:
        raise InvalidDataFile(f"Column {name!r} has a chunk that ends behind the data of the file.")
    if values != rows and not leaf.is_repeated:
        raise InvalidDataFile(f"Column {name!r} has {values} values in a row group of {rows} rows.")
    statistics = meta.get(12)
    nulls = statistics.get(3) if isinstance(statistics, dict) else None
    codec = _number(meta, 4)
    return Chunk(start, codec, size, _number(meta, 6), values, nulls if isinstance(nulls, int) else None)


def _within(what: str, count: int, most: int) -> None:
    if count > most:
        raise DataFileLimitExceeded(
            f"A Parquet file has {count} {what}, more than the limit of {most}.",
            extras={"count": count, "limit": most},
        )


def _number(struct: dict[int, Any], field: int) -> int:
    value = struct.get(field)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidDataFile(f"A Parquet footer has no number, or a negative one, in field {field}.")
    return value


def _list(struct: dict[int, Any], field: int) -> list[dict[int, Any]]:
    value = struct.get(field, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InvalidDataFile(f"A Parquet footer has no list of structs in field {field}.")
    return value
