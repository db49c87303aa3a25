"""SQL over datasets by DataFusion: small queries, without a JVM, each in a process of its own."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from odf_core.engines.datafusion.child import RESULT, Answer, Request
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.process import run_child
from odf_core.engines.errors import QueryInvalid
from odf_core.engines.query_job import Table

_MOST_TABLES = 100


class DataFusionQueries:
    """Queries on DataFusion."""

    def __init__(self, options: DataFusionOptions | None = None) -> None:
        self._options = options or DataFusionOptions()

    def run(self, sql: str, find: Callable[[str], Table], *, limit: int | None = None) -> Any:
        """The result, a `pa.Table`; `find` gives the table that the query calls by a name, and raises where
        there is none.

        Raises `QueryInvalid`, `EngineTimeout`, `EngineDied`, and what `find` raises.
        """
        tables: dict[str, Table] = {}
        with tempfile.TemporaryDirectory(prefix="odf-datafusion-") as folder:
            while True:
                request = Request(
                    sql=sql,
                    tables=tables,
                    folder=folder,
                    memory_bytes=self._options.memory_bytes,
                    limit=limit,
                )
                answer = self._ask(request, folder)
                if answer.refused is not None:
                    raise QueryInvalid(answer.refused)
                if answer.missing is None:
                    return _result(Path(folder) / RESULT)
                if answer.missing in tables or len(tables) >= _MOST_TABLES:
                    raise QueryInvalid(f"The query's table {answer.missing!r} cannot be told from others.")
                tables[answer.missing] = find(answer.missing)

    def _ask(self, request: Request, folder: str) -> Answer:
        module, content = "odf_core.engines.datafusion.child", msgspec.json.encode(request)
        return run_child(module, content, Answer, folder, self._options.seconds, self._options.memory_bytes)


def _result(path: Path) -> Any:
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        table = reader.read_all()
    told = table.schema.metadata or {}
    names = [told[str(number).encode()].decode() for number in range(table.num_columns)]
    return table.replace_schema_metadata(None).rename_columns(names)
