"""Transformations by the Spark engine: files are handed over in an exchange folder, the only one it sees."""

import shutil
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from odf_core.engines.exchange import Exchange
from odf_core.engines.handle import SparkEngine
from odf_core.engines.messages import encode_message
from odf_core.metadata import OffsetInterval, Timestamp, TransformSql
from odf_core.transform import errors  # noqa: F401  the engine's errors are found by their codes
from odf_core.transform.port import Say, StepDone, TableSchema, ValidQuery
from odf_core.transform.request import TransformRequest, TransformRequestInput

EXECUTE = "transform"


class SparkTransforms:
    """A `TransformEngine` on the Spark engine; each call has `deadline` seconds."""

    name = "spark"

    def __init__(self, engine: SparkEngine, deadline: float) -> None:
        self._engine = engine
        self._deadline = deadline

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        """As `TransformEngine.execute`."""
        with self._engine.exchange() as exchange:
            handed = _handed(exchange, request)
            content = {"request": encode_message(handed).hex()}
            reply = self._engine.run(EXECUTE, content, deadline=self._deadline, progress=say)
            for made, wanted in (
                (handed.new_data_path, request.new_data_path),
                (handed.new_checkpoint_path, request.new_checkpoint_path),
            ):
                if Path(made).is_file():
                    shutil.move(made, wanted)
        interval = reply["interval"]
        watermark = reply["watermark"]
        return StepDone(
            new_offset_interval=None
            if interval is None
            else OffsetInterval(start=interval[0], end=interval[1]),
            new_watermark=None if watermark is None else Timestamp.parse(watermark),
            late_rows=reply["late_rows"],
        )


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
