"""Preprocess queries that were written for DataFusion, as most deployed manifests are (data.md 3.3).

Identifiers are case-sensitive, as in the deployed implementation. DataFusion reads one file after another,
each in one partition, where that gives the same result: the order of the source is then kept, and memory
holds one file. A query that groups, joins or sorts gets the whole input as one table.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from datafusion import SessionConfig, SessionContext, SQLOptions

from odf_core.errors import InvalidInput
from odf_core.ingest.merge_job import QueryStep

INPUT = "input"
_VOLATILE = re.compile(
    r"(?<![\w\"'])(now|today|current_date|current_time|current_timestamp|random|uuid|version)\(\)",
    re.IGNORECASE,
)
_LINEAR = frozenset({"Projection", "Filter", "TableScan", "SubqueryAlias"})
_FILE_ROWS = 1 << 20
_ONLY_QUERIES = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)


class PreprocessRefused(InvalidInput):
    """A preprocess query that DataFusion cannot run, or that would not give the same result each time."""

    code: ClassVar[str] = "preprocess_refused"


def preprocess(
    files: Sequence[str], declared: pa.Schema, steps: Sequence[QueryStep], folder: Path
) -> tuple[tuple[str, ...], pa.Schema]:
    """Run the steps over the table `input`; the result as files in `folder`, in its order, and its schema
    with the nullability that follows from the declared one. Raises `PreprocessRefused`."""
    physical = pa.schema([item.with_nullable(True) for item in declared])
    twin = _run(ds.dataset(declared.empty_table()), steps)
    schema = _plain(pa.schema(twin.schema()))
    groups = [[file] for file in files] if _is_linear(twin) else [list(files)]
    writer = _Writer(schema, folder)
    for group in groups:
        table = ds.dataset(group, physical).to_table() if group else physical.empty_table()
        writer.write(_run(ds.dataset(table), steps))
    return writer.finish(), schema


def _is_linear(frame: Any) -> bool:
    """Whether each record of the result comes of one record of the input, so that files can be taken one
    by one."""
    names = {line.split(":")[0].strip() for line in frame.logical_plan().display_indent().splitlines()}
    return names <= _LINEAR


def _run(table: Any, steps: Sequence[QueryStep]) -> Any:
    config = SessionConfig({"datafusion.sql_parser.enable_ident_normalization": "false"})
    context = SessionContext(config.with_target_partitions(1))
    context.register_dataset(INPUT, table)
    result = None
    for step in steps:
        made = only_query(context, step.query)
        if step.alias is not None:
            context.register_view(step.alias, made)
        elif result is None:
            result = made
        else:
            raise PreprocessRefused("Only one step of a preprocess may be without an alias: its result.")
    if result is None:
        raise PreprocessRefused("One step of a preprocess has to be without an alias: its result.")
    return result


def only_query(context: SessionContext, query: str) -> Any:
    """The frame of a query that changes nothing and gives the same each time. Raises `PreprocessRefused`."""
    try:
        made = context.sql_with_options(query, _ONLY_QUERIES)
    except Exception as error:
        raise PreprocessRefused(f"The query cannot run: {first_line(error)}.") from error
    volatile = _VOLATILE.search(made.logical_plan().display_indent())
    if volatile is not None:
        raise PreprocessRefused(
            f"The query calls {volatile.group(0)}, which gives something else each time; "
            f"take times from the data or from the source's event time.",
            objects=[volatile.group(1)],
        )
    return made


class _Writer:
    """Results into files of one row group each, so that one file is one split of Spark."""

    def __init__(self, schema: pa.Schema, folder: Path) -> None:
        self._loose = pa.schema([item.with_nullable(True) for item in schema])
        self._folder = folder
        self._files: list[str] = []
        self._held: list[pa.RecordBatch] = []

    def write(self, frame: Any) -> None:
        """Run the query and take what comes."""
        try:
            for batch in frame.execute_stream():
                self._held.append(batch.to_pyarrow().cast(self._loose))
                if sum(map(len, self._held)) >= _FILE_ROWS:
                    self._flush()
        except Exception as error:
            raise PreprocessRefused(f"The preprocess query fails: {first_line(error)}.") from error

    def finish(self) -> tuple[str, ...]:
        """The files."""
        if self._held:
            self._flush()
        return tuple(self._files)

    def _flush(self) -> None:
        path = self._folder / f"preprocessed-{len(self._files):06}.parquet"
        pq.write_table(pa.Table.from_batches(self._held, self._loose), path, compression="lz4")
        self._files.append(str(path))
        self._held.clear()


def _plain(schema: pa.Schema) -> pa.Schema:
    """Views become plain strings and bytes; timestamps at most microseconds, which is what Spark has."""
    return pa.schema([item.with_type(_plain_type(item.type)) for item in schema])


def _plain_type(data_type: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(data_type):
        return pa.timestamp("us" if data_type.unit in ("us", "ns") else "ms", "UTC")
    if data_type == pa.string_view():
        return pa.string()
    if data_type == pa.binary_view():
        return pa.binary()
    return data_type


def first_line(error: Exception) -> str:
    """What DataFusion says, without the plans that follow."""
    return str(error).strip().split("\n")[0].rstrip(".")
