"""What a coordinator asks of an engine that evaluates transformations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from odf_core.metadata import OffsetInterval, Timestamp, TransformSql
from odf_core.transform.request import DatasetVocabulary, TransformRequest

Say = Callable[[str], None]
"""Is told in a few words what an engine does at the moment."""


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table that a query may read: its name there, all columns of the input, and its vocabulary."""

    query_alias: str
    columns: pa.Schema
    vocabulary: DatasetVocabulary


@dataclass(frozen=True, slots=True)
class ValidQuery:
    """A query that an engine promises to evaluate.

    `transform` is the query with the engine's identity as its version; `columns` are those of the result
    without offset and system time; `is_stateful` tells whether its checkpoint holds rows; `remarks` are
    sentences for whoever wrote it, such as that the state of a query is never pruned.
    """

    transform: TransformSql
    columns: pa.Schema
    is_stateful: bool
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepDone:
    """What a step came to. No interval: no rows; the engine may then have left an empty file for its schema.

    `late_rows` were left out because their window was closed.
    """

    new_offset_interval: OffsetInterval | None
    new_watermark: Timestamp | None
    late_rows: int = 0


class TransformEngine(Protocol):
    """An engine, of one version. All paths are of this machine; nothing else is read or written."""

    @property
    def name(self) -> str:
        """As a transform names it: `spark`."""
        ...

    def version(self) -> str:
        """The identity: a digest over everything that can change a result."""
        ...

    def validate(
        self, transform: TransformSql, tables: Sequence[TableSchema], vocabulary: DatasetVocabulary
    ) -> ValidQuery:
        """Whether the query can be evaluated, without running it; `vocabulary` is that of the result.

        Raises `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`.
        """
        ...

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        """One step: writes `new_data_path` (complete slices, system columns included) where there are rows,
        and `new_checkpoint_path` where it has something to remember.

        Raises as `validate`, and `CheckpointUnreadable`, `EngineFailed` and what else an engine fails with.
        """
        ...

    def migrate(
        self,
        old: TransformSql,
        new: TransformSql,
        tables: Sequence[TableSchema],
        vocabulary: DatasetVocabulary,
        checkpoint: Path | None,
        new_checkpoint: Path,
    ) -> None:
        """Leaves in `new_checkpoint` what `new` can go on from; no file where nothing has to be remembered.

        Raises as `validate`, and `QueryNotMigratable`, `CheckpointUnreadable`.
        """
        ...
