"""What an ingest asks of an engine: preprocess, merge with history, put in order.

The engine gets files and leaves files; it knows neither chains nor hashes. What it leaves are the new
records in the order of their offsets, without the columns that only the writer can fill
(`odf_core.ingest.write`).
"""

import base64
from contextlib import AbstractContextManager
from typing import Literal, Protocol

import msgspec
import pyarrow as pa

OP_COLUMN = "__odf_op"
"""Operation type of each record that the engine leaves: 0 append, 1 retract, 2 and 3 correct."""

StrategyKind = Literal["Append", "Ledger", "Snapshot", "ChangelogStream", "UpsertStream"]


class Strategy(msgspec.Struct, frozen=True, kw_only=True):
    """A merge strategy (data.md 3.6)."""

    kind: StrategyKind
    primary_key: tuple[str, ...] = ()
    compare_columns: tuple[str, ...] | None = None

    @property
    def takes_operations(self) -> bool:
        """Whether the input may have a column of operation types."""
        return self.kind in ("ChangelogStream", "UpsertStream")

    @property
    def is_keyed(self) -> bool:
        """Whether offsets follow the primary key, not the event time (data.md 3.5)."""
        return self.kind in ("Snapshot", "ChangelogStream", "UpsertStream")


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """The system columns' names in this dataset."""

    offset: str = "offset"
    operation_type: str = "op"
    system_time: str = "system_time"
    event_time: str = "event_time"


class QueryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One SQL query; with an alias a view for the steps that follow, without one the result."""

    query: str
    alias: str | None = None


class MergeJob(msgspec.Struct, frozen=True, kw_only=True):
    """Records in `input_files` (Parquet, in the order of the source) for a dataset with `history_files`
    (all its slices, left out where the strategy does not look at them).

    Schemas are Arrow schemas as base64 of their IPC form: of the input as declared, and of the dataset.
    `num_records` estimates the input, so that the engine can choose how to join.
    """

    input_files: tuple[str, ...]
    input_schema: str
    num_records: int
    strategy: Strategy
    names: Names
    preprocess: tuple[QueryStep, ...] = ()
    preprocess_engine: str = "spark"
    history_files: tuple[str, ...] = ()
    history_schema: str | None = None


class MergeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """New records, in Parquet `parts` of this order: `OP_COLUMN` first, then the columns of `schema`
    (Arrow, base64 of the IPC form), which tells what the query made of types and of nullability."""

    parts: tuple[str, ...]
    schema: str


class MergeEngine(Protocol):
    """Who can carry a merge out."""

    def merge(self, job: MergeJob) -> AbstractContextManager[MergeOutcome]:
        """The outcome, whose parts are there until the context ends.

        Raises `BadInputSchema`, `MergeKeyMissing`, what the engine refuses, and `Unavailable`.
        """
        ...


def pack_schema(schema: pa.Schema) -> str:
    """An Arrow schema as text."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def unpack_schema(text: str) -> pa.Schema:
    """What `pack_schema` packed."""
    return pa.ipc.read_schema(pa.BufferReader(base64.b64decode(text)))
