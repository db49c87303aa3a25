"""`python -m odf_core.engines.datafusion.child`: one query in a process of its own, behind fences.

Standard input has a `Request` as JSON, standard output gets an `Answer`. The process reads the files that it
is given, writes in one folder, has no network, and bounded memory; its caller ends it after its deadline.
"""

import resource
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from odf_core.engines.query_job import Table
from odf_core.engines.sandbox import raise_fence

_PROGRAMS = ("/usr", "/lib", "/lib64", "/bin", "/proc", "/etc/localtime", "/etc/ld.so.cache")
_PACKAGE = Path(__file__).resolve().parents[2]
RESULT = "result.arrow"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A query over `tables`, by name; the result goes into `folder`, where `RESULT` is."""

    sql: str
    tables: dict[str, Table]
    folder: str
    memory_bytes: int
    limit: int | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of it: a table that is `missing`, why it is `refused`, or else a result."""

    missing: str | None = None
    refused: str | None = None


def main() -> None:
    """Answers one request."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    files = [Path(file) for table in request.tables.values() for file in table.files]
    fence_off(files, Path(request.folder), request.memory_bytes)
    from odf_core.engines.datafusion.run import answer  # behind the fences

    sys.stdout.buffer.write(msgspec.json.encode(answer(request)))


def fence_off(files: Iterable[Path], folder: Path, memory_bytes: int) -> None:
    """From here on this process reads `files` and Python, writes in `folder`, has so much memory."""
    raise_fence(
        readable=[*map(Path, _PROGRAMS), *_python_folders(), *files],
        writable=[folder, Path("/dev/null"), Path("/dev/urandom")],
        listable=[Path(entry) for entry in sys.path if entry],
        keep_network=None,
    )
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _python_folders() -> list[Path]:
    packages = [Path(entry) for entry in sys.path if "site-packages" in entry]
    return [Path(sys.prefix), Path(sys.base_prefix), _PACKAGE, *packages]


if __name__ == "__main__":
    main()
