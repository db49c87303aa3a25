"""A root dataset and derivatives of it in a workspace, grown step by step by a real engine."""

import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from odf_core.data import arrow_schema_to_odf, write_slice
from odf_core.identity import DatasetId
from odf_core.metadata import (
    DatasetKind,
    MetadataBlock,
    MetadataEvent,
    Seed,
    SetDataSchema,
    SetTransform,
    SqlQueryStep,
    StoredBlock,
    Timestamp,
    TransformInput,
    TransformSql,
    make_block,
)
from odf_core.transform.port import TransformEngine
from odf_core.workspace import LocalDataset, Workspace
from odf_core.workspace.transforms import Transforms
from tests.builders.chain_builder import ChainBuilder, dataset_id
from tests.builders.dataset_builder import EVENT_TIME, MILLISECONDS, SLICE_SCHEMA

STEPS = 6
ROOT_SCHEMA = pa.schema(
    [
        *list(SLICE_SCHEMA)[:4],
        pa.field("k", pa.utf8()),
        pa.field("v", pa.float64()),
        pa.field("n", pa.int64()),
    ]
)
STATELESS = "select event_time, k, v, n from root where k <> 'left out'"
WINDOWED = (
    "select window.start as event_time, k, sum(v) as v, max(n) as n from "
    "(select window(event_time, '10 minutes') as window, k, v, n from root) group by window, k"
)
_VALUES = (0.0, -0.0, 1.5, -2.25, 0.1, float("nan"), None)


def records(random_: random.Random, start: int, step: int) -> pa.Table:
    """Ten records; nulls stand before values, so that what the logical hash does not bind can be tried."""
    numbers: list[int | None] = [None, 5, 7, None, 1 << 20, random_.randrange(1000), None, 3, 4, None]
    count = len(numbers)
    keys = [*"abcd", "left out", *random_.choices("bcd", k=count - 5)]  # a has nothing but nulls
    minutes = [10 * step + random_.randrange(-8, 10) for _ in range(count)]  # some for an earlier window
    return pa.table(
        {
            "offset": range(start, start + count),
            "op": [0] * count,
            "system_time": pa.array([EVENT_TIME] * count, MILLISECONDS),
            "event_time": pa.array([EVENT_TIME + timedelta(minutes=m) for m in minutes], MILLISECONDS),
            "k": keys,
            "v": random_.choices(_VALUES, k=count),
            "n": numbers,
        },
        schema=ROOT_SCHEMA,
    )


class Root:
    """A root dataset; each `grow` is a block."""

    def __init__(self, workspace: Workspace, name: str = "root") -> None:
        self._workspace = workspace
        self._random = random.Random(4)
        self.chain = ChainBuilder(name)
        self.chain.seed().event(SetDataSchema(schema=arrow_schema_to_odf(ROOT_SCHEMA)))
        self.dataset = workspace.create_from_blocks(name, self.chain.blocks)
        self._steps = 0

    def grow(self) -> None:
        start = 10 * self._steps
        with tempfile.TemporaryDirectory() as folder:
            written = write_slice(records(self._random, start, self._steps), Path(folder, "slice"))
            described = written.data_slice
            moment = Timestamp.from_datetime(EVENT_TIME + timedelta(minutes=10 * (self._steps - 2)))
            self.chain.add_data(data_slice=described, watermark=moment)
            name = dict.fromkeys(_refs(self.chain.last), written.path)
            self._workspace.append_blocks(self.dataset, [self.chain.last], name)
        self._steps += 1


def _refs(block: StoredBlock) -> list:
    from odf_core.chain import new_objects

    return list(new_objects(block.block))


def derivative(
    workspace: Workspace,
    name: str,
    transform: TransformSql,
    *inputs: LocalDataset,
    alias: str | None = None,
) -> LocalDataset:
    """A derivative dataset without a step; `alias` is what its query calls an input, if not by its name."""
    sources = tuple(TransformInput(dataset_ref=item.id, alias=alias or str(item.alias)) for item in inputs)
    events: list[MetadataEvent] = [
        Seed(dataset_id=dataset_id(name), dataset_kind=DatasetKind.DERIVATIVE),
        SetTransform(inputs=sources, transform=transform),
    ]
    return workspace.create_from_blocks(name, chained(events))


def chained(events: list[MetadataEvent]) -> list[StoredBlock]:
    """Events as a chain from its Seed on."""
    blocks: list[StoredBlock] = []
    for number, event in enumerate(events):
        blocks.append(
            make_block(
                MetadataBlock(
                    system_time=Timestamp.from_datetime(EVENT_TIME),
                    prev_block_hash=blocks[-1].hash if blocks else None,
                    sequence_number=number,
                    event=event,
                )
            )
        )
    return blocks


def clock() -> Callable[[], Timestamp]:
    """A later time with each call."""
    calls = iter(range(1, 10_000))
    return lambda: Timestamp.from_datetime(EVENT_TIME + timedelta(days=1, seconds=next(calls)))


def grown(workspace: Workspace, engine: TransformEngine, steps: int = STEPS) -> dict[str, LocalDataset]:
    """`root`, and `stateless` and `windowed` over it, of so many steps."""
    root = Root(workspace)
    pinned = TransformSql(engine=engine.name, version=engine.version())
    stateless = derivative(
        workspace, "stateless", replace(pinned, queries=(SqlQueryStep(query=STATELESS),)), root.dataset
    )
    windowed = derivative(
        workspace, "windowed", replace(pinned, queries=(SqlQueryStep(query=WINDOWED),)), root.dataset
    )
    transforms = Transforms(workspace, lambda transform: engine, clock())
    for _ in range(steps):
        root.grow()
        for dataset in (stateless, windowed):
            transforms.update(dataset.id)
    return {"root": root.dataset, "stateless": stateless, "windowed": windowed}


def ids(datasets: dict[str, LocalDataset]) -> dict[DatasetId, LocalDataset]:
    return {item.id: item for item in datasets.values()}
