"""SQL over datasets by the Spark engine: the tables that a query names, and its result as a table."""

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.engines.handle import SparkEngine
from odf_core.engines.query_job import QueryJob, QueryOutcome, TablePlace
from odf_core.ingest.merge_job import unpack_schema


class SparkQueries:
    """Queries on the Spark engine; each call has `deadline` seconds."""

    def __init__(self, engine: SparkEngine, deadline: float) -> None:
        self._engine = engine
        self._deadline = deadline

    def tables(self, sql: str) -> list[TablePlace]:
        """Where the query names tables. Raises `QueryInvalid`."""
        reply = self._engine.run("query_tables", {"sql": sql}, deadline=self._deadline)
        return msgspec.convert(reply["tables"], list[TablePlace])

    def run(self, job: QueryJob) -> Any:
        """The result, a `pa.Table`, all of it in memory: bound it by the job's limit.

        Raises `QueryRefused`, `QueryInvalid`, and what the engine raises.
        """
        with self._engine.exchange() as exchange:
            tables = {
                name: msgspec.structs.replace(table, files=exchange.handed(table.files))
                for name, table in job.tables.items()
            }
            handed = msgspec.structs.replace(job, tables=tables)
            request = {"job": msgspec.to_builtins(handed), "output": str(exchange.folder / "result")}
            outcome = msgspec.convert(
                self._engine.run("query", request, deadline=self._deadline), QueryOutcome
            )
            schema = unpack_schema(outcome.schema)
            found = [pq.read_table(part) for part in outcome.parts]
        loose = pa.schema([(f"c{number}", item.type) for number, item in enumerate(schema)])
        whole = pa.concat_tables([part.cast(loose, safe=False) for part in found] or [loose.empty_table()])
        return whole.rename_columns(schema.names)
