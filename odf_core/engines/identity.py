"""Which engine it is: a digest over everything that can change a result, without starting one.

Spark, DataFusion and Arrow by their versions; our own code, lists and settings by their bytes. Neither where
the files lie nor when they were written counts. What only carries requests and files is left out, so that
work on it makes no new engine (tests/engine_install/test_identity.py has the list); so is the Java below: 17,
21 and 25 run it (spark.md 9), and a chain should not depend on a machine's Java.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_SUFFIXES = frozenset({".py", ".java", ".txt"})
_DIGITS = 24
_SHARED = (
    "data/slices/write.py",
    "engines/result_names.py",
    "engines/state_file.py",
    "engines/transform_calls.py",
    "engines/watermarks.py",
)
SPARK_CODE = (
    "engines/spark/transforms",
    "engines/spark/gates",
    "engines/spark/slices/carriers.py",
    "engines/spark/slices/columns.py",
    "engines/spark/slices/frames.py",
    "engines/spark/slices/tuning.py",
    "engines/spark/launch.py",
    "engines/spark/session.py",
    *_SHARED,
)
"""Files and folders below `odf_core` that decide about what Spark's steps give."""
DATAFUSION_CODE = (
    *(
        f"engines/datafusion/{name}.py"
        for name in ("corrections", "linear", "output", "planning", "result", "step", "tables")
    ),
    *_SHARED,
)
"""The same of DataFusion."""


@cache
def spark_identity() -> str:
    """The identity of the Spark engine of this installation."""
    return _identity(spark_packages(), SPARK_CODE)


@cache
def datafusion_identity() -> str:
    """The identity of the DataFusion engine of this installation."""
    return _identity(datafusion_packages(), DATAFUSION_CODE)


def spark_packages() -> dict[str, str]:
    """What the Spark engine runs on, and its versions. Raises `PackageNotFoundError`."""
    return _versions(("pyspark", "pyarrow"))


def datafusion_packages() -> dict[str, str]:
    """What the DataFusion engine runs on, and its versions. Raises `PackageNotFoundError`."""
    return _versions(("datafusion", "pyarrow"))


def files_of(code: Iterable[str], package: Path = _PACKAGE) -> list[str]:
    """The files that count, by their names below `odf_core`, in order."""
    return sorted(path.relative_to(package).as_posix() for path in _files(code, package))


def _versions(names: Sequence[str]) -> dict[str, str]:
    return {name: version(name) for name in names}


def _identity(packages: dict[str, str], code: Iterable[str]) -> str:
    """The version of the first package, and a digest of all."""
    digest = hashlib.sha3_256()
    for name, number in packages.items():
        digest.update(f"{name} {number}\n".encode())
    for file in files_of(code):
        content = hashlib.sha3_256((_PACKAGE / file).read_bytes()).hexdigest()
        digest.update(f"{file} {content}\n".encode())
    return f"{next(iter(packages.values()))}+odf.{digest.hexdigest()[:_DIGITS]}"


def _files(code: Iterable[str], package: Path) -> Iterator[Path]:
    for name in code:
        path = package / name
        yield from (item for item in path.rglob("*") if item.suffix in _SUFFIXES) if path.is_dir() else [path]
