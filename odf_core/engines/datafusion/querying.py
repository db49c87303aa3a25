"""SQL over datasets by DataFusion: small queries, without a JVM, each in a process of its own."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from odf_core.engines.datafusion.child import RESULT, Answer, Request
from odf_core.engines.errors import EngineDied, EngineTimeout, QueryInvalid
from odf_core.engines.query_job import Table

_ROOT = Path(__file__).resolve().parents[3]
_MOST_TABLES = 100
_WORDS = 300


@dataclass(frozen=True, slots=True)
class DataFusionOptions:
    """Bounds of one query: `seconds` until it is ended, `memory_bytes` of address space of its process."""

    seconds: float = 60.0
    memory_bytes: int = 4 << 30


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
        try:
            done = subprocess.run(
                [sys.executable, "-m", "odf_core.engines.datafusion.child"],
                input=msgspec.json.encode(request),
                capture_output=True,
                timeout=self._options.seconds,
                env=_environment(folder),
                cwd=folder,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EngineTimeout(
                f"The query took longer than {self._options.seconds:.0f} s and was ended.",
                extras={"seconds": self._options.seconds},
            ) from error
        try:
            return msgspec.json.decode(done.stdout, type=Answer)
        except msgspec.DecodeError as error:
            words = done.stderr.decode(errors="replace").strip()[-_WORDS:].replace("\n", " ")
            raise EngineDied(
                f"The query's process ended with status {done.returncode}, perhaps for want of memory "
                f"({self._options.memory_bytes} bytes are allowed): {words or 'it said nothing'}."
            ) from error


def _result(path: Path) -> Any:
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        table = reader.read_all()
    told = table.schema.metadata or {}
    names = [told[str(number).encode()].decode() for number in range(table.num_columns)]
    return table.replace_schema_metadata(None).rename_columns(names)


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the user's secrets."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(_ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
