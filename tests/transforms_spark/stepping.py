"""Inputs as files, and queries evaluated over them step by step by a real engine."""

import itertools
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data import logical_hash_file
from odf_core.engines import transforming
from odf_core.engines.transforming import SparkTransforms
from odf_core.identity import DatasetId
from odf_core.metadata import OffsetInterval, SqlQueryStep, Timestamp, TransformSql
from odf_core.transform.port import TransformEngine
from odf_core.transform.request import DatasetVocabulary, TransformRequest, TransformRequestInput, Watermark
from odf_core.workspace.adding import new_dataset_id

INSTANT = pa.timestamp("ms", "UTC")
VOCAB = DatasetVocabulary(
    offset_column="offset",
    operation_type_column="op",
    system_time_column="system_time",
    event_time_column="event_time",
)
START = datetime(2024, 1, 1, tzinfo=UTC)
SYSTEM_TIME = "2024-03-01T00:00:00Z"


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


def slice_schema(columns: pa.Schema) -> pa.Schema:
    return pa.schema(
        [
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("op", pa.int32(), nullable=False),
            pa.field("system_time", INSTANT, nullable=False),
            pa.field("event_time", INSTANT, nullable=False),
            *columns,
        ]
    )


@dataclass
class Input:
    """A dataset of which slices are made; records are `(op, minute, *values)`."""

    name: str
    columns: pa.Schema
    folder: Path
    id: DatasetId = field(default_factory=new_dataset_id)
    next_offset: int = 0

    @property
    def schema(self) -> pa.Schema:
        return slice_schema(self.columns)

    def slice(self, records) -> tuple[Path, OffsetInterval] | None:
        if not records:
            return None
        size = len(records)
        arrays = [
            pa.array(range(self.next_offset, self.next_offset + size), pa.int64()),
            pa.array([record[0] for record in records], pa.int32()),
            pa.array([START] * size, INSTANT),
            pa.array([minute(record[1]) for record in records], INSTANT),
        ]
        for place, item in enumerate(self.columns):
            arrays.append(pa.array([record[2 + place] for record in records], item.type))
        path = self.folder / f"{self.name}-{self.next_offset}.parquet"
        pq.write_table(pa.table(arrays, schema=self.schema), path)
        interval = OffsetInterval(start=self.next_offset, end=self.next_offset + size - 1)
        self.next_offset += size
        return path, interval


@dataclass
class Step:
    """What one step left."""

    records: list[dict]
    table: pa.Table | None
    interval: OffsetInterval | None
    watermark: Timestamp | None
    late_rows: int
    checkpoint: Path | None
    logical_hash: str | None
    path: Path


_folders = itertools.count()


@dataclass
class Derived:
    """A query, one string or (alias, query) pairs, over inputs; `conf` sets the session."""

    engine: TransformEngine
    inputs: list[Input]
    query: str | list[tuple[str | None, str]]
    folder: Path
    conf: dict[str, str] | None = None
    small: bool = True
    version: str | None = None
    id: DatasetId = field(default_factory=new_dataset_id)
    next_offset: int = 0
    checkpoint: Path | None = None
    steps: list[Step] = field(default_factory=list)

    @property
    def transform(self) -> TransformSql:
        if isinstance(self.query, str):
            return TransformSql(engine=self.engine.name, version=self.version, query=self.query)
        steps = tuple(SqlQueryStep(alias=alias, query=query) for alias, query in self.query)
        return TransformSql(engine=self.engine.name, version=self.version, queries=steps)

    def step(self, slices, watermarks) -> Step:
        """Slices as `Input.slice` gave them (or several in a list) and watermarks (minutes or None), for
        each input."""
        folder = self.folder / f"step-{next(_folders)}"
        folder.mkdir()
        request = TransformRequest(
            dataset_id=self.id,
            dataset_alias="derived",
            system_time=Timestamp.parse(SYSTEM_TIME),
            vocab=VOCAB,
            transform=self.transform,
            query_inputs=tuple(
                _asked(folder, number, source, made, mark)
                for number, (source, made, mark) in enumerate(
                    zip(self.inputs, slices, watermarks, strict=True)
                )
            ),
            next_offset=self.next_offset,
            prev_checkpoint_path=None if self.checkpoint is None else str(self.checkpoint),
            new_checkpoint_path=str(folder / "checkpoint"),
            new_data_path=str(folder / "data"),
        )
        done = self._execute(request)
        if (folder / "checkpoint").is_file():
            self.checkpoint = folder / "checkpoint"
        table = pq.read_table(folder / "data")
        hashed = None
        if done.new_offset_interval is not None:
            self.next_offset = done.new_offset_interval.end + 1
            hashed = str(logical_hash_file(folder / "data"))
        step = Step(
            table.to_pylist(),
            table,
            done.new_offset_interval,
            done.new_watermark,
            done.late_rows,
            self.checkpoint,
            hashed,
            folder / "data",
        )
        self.steps.append(step)
        return step

    def _execute(self, request):
        if self.conf is None:
            return self.engine.execute(request, lambda word: None)
        run, kind = self.engine._engine.run, transforming.EXECUTE

        class Other:
            def __init__(self, engine):
                self.exchange = engine.exchange

            def run(other, called, content, **more):
                assert called == kind
                return run("test_transform", {**content, "conf": self.conf, "small": self.small}, **more)

        return SparkTransforms(Other(self.engine._engine), 120).execute(request, lambda word: None)

    def told(self) -> list[dict]:
        """All records so far."""
        return [record for step in self.steps for record in step.records]


def _asked(folder, number, source, made, mark) -> TransformRequestInput:
    schema_file = folder / f"schema-{number}.parquet"
    pq.write_table(source.schema.empty_table(), schema_file)
    marks = ()
    if mark is not None:
        moment = Timestamp.from_datetime(minute(mark))
        marks = (Watermark(system_time=Timestamp.parse(SYSTEM_TIME), event_time=moment),)
    asked = TransformRequestInput(
        dataset_id=source.id,
        dataset_alias=source.name,
        query_alias=source.name,
        vocab=VOCAB,
        data_paths=(),
        schema_file=str(schema_file),
        explicit_watermarks=marks,
    )
    if made is None:
        return asked
    parts = made if isinstance(made, list) else [made]
    interval = OffsetInterval(start=parts[0][1].start, end=parts[-1][1].end)
    return replace(asked, data_paths=tuple(str(path) for path, _ in parts), offset_interval=interval)
