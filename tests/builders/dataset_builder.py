"""Whole datasets for tests: chains with real hashes and slices that are real Parquet files.

    dataset = root_dataset("weather")          # Seed, SetPollingSource, SetDataSchema, AddData of 10 records
    dataset.info("more").add(5)                # two blocks more
    dataset.write(folder)                      # the layout of the specification

`chain` underneath is a `ChainBuilder`: what this class does not offer is one attribute away. Records
depend on nothing but the name of the dataset and their offsets, so the same steps give the same bytes.
"""

import copy
import hashlib
import io
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data import logical_hash_file, write_slice
from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.metadata import DataSlice, OffsetInterval, StoredBlock
from tests.builders.chain_builder import ChainBuilder

EVENT_TIME = datetime(2024, 1, 1, tzinfo=UTC)
MILLISECONDS = pa.timestamp("ms", tz="UTC")
SLICE_SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("op", pa.int32(), nullable=False),
        pa.field("system_time", MILLISECONDS, nullable=False),
        pa.field("event_time", MILLISECONDS, nullable=False),
        pa.field("city", pa.utf8(), nullable=False),
        pa.field("population", pa.int64(), nullable=True),
    ]
)
"""Arrow schema of the files; what `ChainBuilder.schema()` says in ODF's words."""


def root_dataset(name: str, *, version: int | None = None) -> "DatasetBuilder":
    """The dataset of wire.md 8: four blocks, one slice of 10 records and one checkpoint of 32 bytes."""
    dataset = DatasetBuilder(name, version=version)
    dataset.chain.seed().polling_source().schema()
    return dataset.add(10)


def seed_only(name: str) -> "DatasetBuilder":
    """A dataset that has nothing but its Seed."""
    dataset = DatasetBuilder(name)
    dataset.chain.seed()
    return dataset


def derivative_dataset(name: str, *inputs: str) -> "DatasetBuilder":
    """A derivative of the datasets of these names: Seed, SetTransform, SetDataSchema, ExecuteTransform."""
    dataset = DatasetBuilder(name)
    dataset.chain.seed("derivative").transform(*inputs).schema()
    dataset.chain.execute_transform(data_slice=dataset.slice(0, 10), checkpoint=b"state of a query".ljust(32))
    return dataset


def records(start: int, count: int, salt: str = "") -> dict[str, list[Any]]:
    """Columns of `count` records from the offset `start` on."""
    offsets = range(start, start + count)
    return {
        "offset": list(offsets),
        "op": [0] * count,
        "system_time": [EVENT_TIME + timedelta(days=1)] * count,
        "event_time": [EVENT_TIME + timedelta(hours=offset) for offset in offsets],
        "city": [f"{salt} city {offset}" for offset in offsets],
        "population": [None if offset % 7 == 3 else 1000 * offset for offset in offsets],
    }


def parquet(columns: dict[str, list[Any]], schema: pa.Schema = SLICE_SCHEMA) -> bytes:
    """A slice's file of these columns."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns, schema=schema), out, compression="snappy", version="1.0")
    return out.getvalue()


def describe(content: bytes, start: int, count: int) -> DataSlice:
    """The true description of a file that holds the records `start` to `start + count - 1`."""
    return DataSlice(
        logical_hash=logical_hash_file(io.BytesIO(content)),
        physical_hash=Multihash.sha3_256(content),
        offset_interval=OffsetInterval(start=start, end=start + count - 1),
        size=len(content),
    )


class DatasetBuilder:
    """See the module; methods that add blocks return the builder."""

    def __init__(self, name: str, *, version: int | None = None) -> None:
        self.chain = ChainBuilder(name, version=version)

    @property
    def id(self) -> DatasetId:
        return self.chain.dataset_id

    @property
    def blocks(self) -> list[StoredBlock]:
        return self.chain.blocks

    @property
    def head(self) -> str:
        return str(self.chain.head)

    @property
    def next_offset(self) -> int:
        """The offset of the next record."""
        slices = [getattr(block.block.event, "new_data", None) for block in self.blocks]
        return max((item.offset_interval.end + 1 for item in slices if item is not None), default=0)

    def slice(self, start: int, count: int) -> DataSlice:
        """A true slice, its file put among the objects."""
        table = pa.table(records(start, count, self.chain.name), schema=SLICE_SCHEMA)
        with tempfile.TemporaryDirectory() as folder:
            written = write_slice(table, Path(folder, "slice"))
            self.put(written.data_slice, written.path.read_bytes())
        return written.data_slice

    def put(self, described: DataSlice, content: bytes) -> None:
        """Keep `content` as the file of the slice, whether the description is true or not."""
        ref = ObjectRef(ObjectKind.DATA_SLICE, described.physical_hash, described.size)
        self.chain.objects[ref] = content

    def add(self, count: int = 10, *, with_checkpoint: bool = True) -> "DatasetBuilder":
        """AddData of so many records and, if wished, a new checkpoint of 32 bytes."""
        start = self.next_offset
        state = hashlib.sha256(f"{self.chain.name} {start} {count}".encode()).digest()
        self.chain.add_data(
            data_slice=self.slice(start, count), checkpoint=state if with_checkpoint else None
        )
        return self

    def info(self, description: str) -> "DatasetBuilder":
        self.chain.info(description)
        return self

    def fork(self) -> "DatasetBuilder":
        """A copy that goes its own way from here."""
        other = copy.copy(self)
        other.chain = self.chain.fork()
        return other

    def first(self, count: int) -> "DatasetBuilder":
        """The dataset as it was when it had `count` blocks, with the objects that it had."""
        earlier = self.fork()
        del earlier.chain.blocks[count:]
        needed = {item for block in earlier.blocks for item in _objects_of(block)}
        earlier.chain.objects = {ref: data for ref, data in self.chain.objects.items() if ref.hash in needed}
        return earlier

    def compacted(self) -> "DatasetBuilder":
        """The same records in one slice: history rewritten from the first AddData on."""
        kinds = [type(block.block.event).__name__ for block in self.blocks]
        short = self.first(kinds.index("AddData"))
        return short.add(self.next_offset)

    def files(self) -> dict[str, bytes]:
        """Name -> content in the layout of the specification, the head included."""
        return self.chain.files()

    def write(self, folder: Path) -> Path:
        """The dataset as files below `folder`, which may hold an older state of it."""
        for name, content in self.files().items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder


def _objects_of(block: StoredBlock) -> list[Multihash]:
    event: Any = block.block.event
    parts = (getattr(event, "new_data", None), getattr(event, "new_checkpoint", None))
    return [part.physical_hash for part in parts if part is not None]
