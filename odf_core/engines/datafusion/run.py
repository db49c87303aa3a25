"""A query on DataFusion, in this process: the caller has raised the fences."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

from odf_core.engines.datafusion.child import RESULT, Answer, Request
from odf_core.engines.datafusion.preprocess import PreprocessRefused, first_line, only_query
from odf_core.engines.query_job import Table
from odf_core.ingest.merge_job import unpack_schema

_MISSING = re.compile(r"table '([^']*)' not found")
_DEFAULT_SCHEMA = "datafusion.public."


def answer(request: Request) -> Answer:
    """Runs the query and leaves its result, an Arrow file, in the request's folder."""
    config = SessionConfig({"datafusion.sql_parser.enable_ident_normalization": "false"})
    pool = RuntimeEnvBuilder().with_disk_manager_disabled().with_greedy_memory_pool(request.memory_bytes // 2)
    context = SessionContext(config.with_target_partitions(1), pool)
    for name, table in request.tables.items():
        context.register_dataset(_quoted(name), ds.dataset(_records(table)))
    try:
        frame = only_query(context, request.sql)
        frame = frame if request.limit is None else frame.limit(request.limit)
        _write(frame, Path(request.folder) / RESULT)
    except PreprocessRefused as error:
        missing = _MISSING.search(error.message)
        if missing is not None:
            return Answer(missing=missing[1].removeprefix(_DEFAULT_SCHEMA))
        return Answer(refused=error.message)
    return Answer()


def _write(frame: Any, path: Path) -> None:
    """The result with its columns by number, for names may occur twice; the names are metadata."""
    try:
        fields = list(enumerate(frame.schema()))
        schema = pa.schema([pa.field(f"c{number}", item.type) for number, item in fields])
        names = {str(number): item.name for number, item in fields}
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema.with_metadata(names)) as writer,
        ):
            for batch in frame.execute_stream():
                writer.write_batch(batch.to_pyarrow().rename_columns(schema.names).cast(schema))
    except Exception as error:
        raise PreprocessRefused(f"The query fails: {first_line(error)}.") from error


def _records(table: Table) -> Any:
    """The records in the order of their offsets, so that an answer is the same each time."""
    schema = unpack_schema(table.schema)
    loose = pa.schema([item.with_nullable(True) for item in schema])
    records = ds.dataset(list(table.files), loose).to_table() if table.files else loose.empty_table()
    if table.max_offset is not None:
        records = records.filter(pc.field(table.offset_column) <= table.max_offset)
    return records.sort_by(table.offset_column)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
