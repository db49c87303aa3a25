"""Transformations by the Spark engine: files are handed over in an exchange folder, the only one it sees."""

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from odf_core.engines.exchange import Exchange
from odf_core.engines.handle import SparkEngine
from odf_core.engines.identity import spark_identity
from odf_core.engines.messages import encode_message
from odf_core.engines.transform_calls import (
    EXECUTE,
    MIGRATE,
    VALIDATE,
    Migration,
    query_of,
)
from odf_core.ingest.merge_job import unpack_schema
from odf_core.metadata import OffsetInterval, Timestamp, TransformSql
from odf_core.transform import errors  # noqa: F401  errors that the engine tells are found by their codes
from odf_core.transform.port import Say, StepDone, TableSchema, ValidQuery
from odf_core.transform.request import DatasetVocabulary, TransformRequest, TransformRequestInput


class SparkTransforms:
    """A `TransformEngine` on the Spark engine; each call has `deadline` seconds."""

    name = "spark"

    def __init__(self, engine: SparkEngine, deadline: float) -> None:
        self._engine = engine
        self._deadline = deadline

    def version(self) -> str:
        """As `TransformEngine.version`."""
        return self._engine.program.identity or spark_identity()

    def is_warm(self) -> bool:
        """Whether its process runs, so that a call need not wait for a start."""
        return self._engine.running()

    def validate(
        self, transform: TransformSql, tables: Sequence[TableSchema], vocabulary: DatasetVocabulary
    ) -> ValidQuery:
        """As `TransformEngine.validate`."""
        content = msgspec.to_builtins(query_of(transform, tables, vocabulary))
        reply = self._engine.run(VALIDATE, content, deadline=self._deadline)
        return ValidQuery(
            transform=replace(transform, version=self.version()),
            columns=unpack_schema(reply["columns"]),
            is_stateful=reply["stateful"],
            remarks=tuple(reply["remarks"]),
        )

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        """As `TransformEngine.execute`."""
        with self._engine.exchange() as exchange:
            handed = _handed(exchange, request)
            content = {"request": encode_message(handed).hex()}
            reply = self._engine.run(EXECUTE, content, deadline=self._deadline, progress=say)
            _fetch(handed.new_data_path, request.new_data_path)
            _fetch(handed.new_checkpoint_path, request.new_checkpoint_path)
        interval, watermark = reply["interval"], reply["watermark"]
        return StepDone(
            new_offset_interval=None
            if interval is None
            else OffsetInterval(start=interval[0], end=interval[1]),
            new_watermark=None if watermark is None else Timestamp.parse(watermark),
            late_rows=reply["late_rows"],
        )

    def migrate(
        self,
        old: TransformSql,
        new: TransformSql,
        tables: Sequence[TableSchema],
        vocabulary: DatasetVocabulary,
        checkpoint: Path | None,
        new_checkpoint: Path,
    ) -> None:
        """As `TransformEngine.migrate`."""
        with self._engine.exchange() as exchange:
            asked = Migration(
                old=query_of(old, tables, vocabulary),
                new=query_of(new, tables, vocabulary),
                checkpoint=None if checkpoint is None else str(exchange.put(checkpoint)),
                new_checkpoint=str(exchange.folder / "checkpoint"),
            )
            self._engine.run(MIGRATE, msgspec.to_builtins(asked), deadline=self._deadline)
            _fetch(asked.new_checkpoint, str(new_checkpoint))


def _fetch(made: str, wanted: str) -> None:
    if Path(made).is_file():
        shutil.move(made, wanted)


def _handed(exchange: Exchange, request: TransformRequest) -> TransformRequest:
    """The request with paths as the engine sees them, by number: a file's own name may be anything."""

    def put(path: str) -> str:
        return str(exchange.put(Path(path), f"{uuid.uuid4().hex}.parquet"))

    def put_input(item: TransformRequestInput) -> TransformRequestInput:
        return replace(
            item, data_paths=tuple(put(path) for path in item.data_paths), schema_file=put(item.schema_file)
        )

    previous = request.prev_checkpoint_path
    return replace(
        request,
        query_inputs=tuple(put_input(item) for item in request.query_inputs),
        prev_checkpoint_path=None if previous is None else put(previous),
        new_checkpoint_path=str(exchange.folder / "checkpoint"),
        new_data_path=str(exchange.folder / "data"),
    )
