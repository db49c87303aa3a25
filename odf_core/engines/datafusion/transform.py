"""Transformations by DataFusion: each step in a process of its own, without a JVM (data.md 4.5).

A transformation without a version is of a deployed coordinator and follows the rules of its engine: any
query, over the new records alone, with operations only where the query selects them. With our version only
queries are evaluated whose steps add up to the query over the whole: `linear`.
"""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from odf_core.engines.datafusion.calls import Call, Execute, Migrate, StepAnswer, StepRequest, Validate
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.warm_pool import ask
from odf_core.engines.errors import EngineDied
from odf_core.engines.identity import datafusion_identity
from odf_core.engines.messages import encode_message
from odf_core.engines.program import OWN, EngineProgram
from odf_core.engines.transform_calls import query_of
from odf_core.engines.wire import error_of
from odf_core.ingest.merge_job import unpack_schema
from odf_core.metadata import OffsetInterval, Timestamp, TransformSql
from odf_core.transform.errors import QueryNotMigratable
from odf_core.transform.port import Say, StepDone, TableSchema, ValidQuery
from odf_core.transform.request import DatasetVocabulary, TransformRequest

_MIGRATION_SECONDS = 60.0


class DataFusionTransforms:
    """A `TransformEngine` on DataFusion."""

    name = "datafusion"

    def __init__(self, options: DataFusionOptions | None = None, program: EngineProgram = OWN) -> None:
        self._options = options or DataFusionOptions()
        self._program = program

    def version(self) -> str:
        """As `TransformEngine.version`."""
        return self._program.identity or datafusion_identity()

    def validate(
        self, transform: TransformSql, tables: Sequence[TableSchema], vocabulary: DatasetVocabulary
    ) -> ValidQuery:
        """As `TransformEngine.validate`."""
        with tempfile.TemporaryDirectory(prefix="odf-datafusion-") as folder:
            call = Validate(query=query_of(transform, tables, vocabulary))
            answer = self._ask(call, (), folder, self._options.seconds)
        if answer.validated is None:
            raise EngineDied("DataFusion's process has answered something else than it was asked.")
        return ValidQuery(
            transform=replace(transform, version=self.version()),
            columns=unpack_schema(answer.validated.columns),
            is_stateful=False,
        )

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        """As `TransformEngine.execute`."""
        say("evaluating the query")
        parent = Path(request.new_data_path).parent
        with tempfile.TemporaryDirectory(prefix="datafusion-", dir=parent) as folder:
            handed = replace(
                request,
                new_data_path=f"{folder}/data",
                new_checkpoint_path=f"{folder}/checkpoint",
            )
            call = Execute(request=encode_message(handed).hex())
            answer = self._ask(call, _files(request), folder, self._options.step_seconds)
            if answer.done is None:
                raise EngineDied("DataFusion's process has answered something else than it was asked.")
            _fetch(handed.new_data_path, request.new_data_path)
            _fetch(handed.new_checkpoint_path, request.new_checkpoint_path)
        interval, watermark = answer.done.interval, answer.done.watermark
        return StepDone(
            new_offset_interval=None
            if interval is None
            else OffsetInterval(start=interval[0], end=interval[1]),
            new_watermark=None if watermark is None else Timestamp.parse(watermark),
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
        """As `TransformEngine.migrate`. Deployed engines remember nothing: nothing goes from or to them."""
        if new.version is None:
            return
        if old.engine.lower() != self.name or old.version is None:
            raise QueryNotMigratable(
                f"The steps so far were evaluated by {old.engine} {old.version or '(as deployed)'}, of which "
                f"DataFusion does not know what was read and told. Make a new dataset for the new query, or "
                f"reset this one to before its first step."
            )
        with tempfile.TemporaryDirectory(prefix="odf-datafusion-") as folder:
            call = Migrate(
                old=query_of(old, tables, vocabulary),
                new=query_of(new, tables, vocabulary),
                checkpoint=None if checkpoint is None else str(checkpoint),
                new_checkpoint=f"{folder}/checkpoint",
            )
            files = () if checkpoint is None else (str(checkpoint),)
            self._ask(call, files, folder, _MIGRATION_SECONDS)
            _fetch(call.new_checkpoint, str(new_checkpoint))

    def _ask(self, call: Call, files: Iterable[str], folder: str, seconds: float) -> StepAnswer:
        request = StepRequest(
            call=call,
            files=tuple(files),
            folder=folder,
            memory_bytes=self._options.memory_bytes,
            identity=self._program.identity,
        )
        answer = ask(request, seconds, self._program)
        if answer.error is not None:
            raise error_of(answer.error)
        return answer


def _files(request: TransformRequest) -> Iterable[str]:
    for item in request.query_inputs:
        yield item.schema_file
        yield from item.data_paths
    if request.prev_checkpoint_path is not None:
        yield request.prev_checkpoint_path


def _fetch(made: str, wanted: str) -> None:
    if Path(made).is_file():
        shutil.move(made, wanted)
