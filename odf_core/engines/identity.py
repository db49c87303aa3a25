"""Which engine it is: a digest over everything that can change a result, without starting one.

Spark and Arrow by their versions; our own code, lists and settings by their bytes. The Java below is left
out: 17, 21 and 25 run it (spark.md 9), and a chain should not depend on a machine's Java.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

_HERE = Path(__file__).parent
_SUFFIXES = frozenset({".py", ".java", ".txt"})
_DIGITS = 24
_SHARED = ("state_file.py", "watermarks.py")
_SPARK = (
    "spark/transforms",
    "spark/gates",
    "spark/slices/carriers.py",
    "spark/slices/frames.py",
    "spark/slices/tuning.py",
    "spark/session.py",
)


@cache
def spark_identity() -> str:
    """The identity of the Spark engine of this installation."""
    return _identity(("pyspark", "pyarrow"), (*_SPARK, *_SHARED))


@cache
def datafusion_identity() -> str:
    """The identity of the DataFusion engine of this installation."""
    return _identity(("datafusion", "pyarrow"), ("datafusion", *_SHARED))


def _identity(packages: Sequence[str], code: Iterable[str]) -> str:
    """The version of the first package, and a digest of all."""
    digest = hashlib.sha3_256()
    for name in packages:
        digest.update(f"{name} {version(name)}\n".encode())
    for file in sorted(_files(code)):
        content = hashlib.sha3_256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(_HERE).as_posix()} {content}\n".encode())
    return f"{version(packages[0])}+odf.{digest.hexdigest()[:_DIGITS]}"


def _files(code: Iterable[str]) -> Iterable[Path]:
    for name in code:
        path = _HERE / name
        yield from (item for item in path.rglob("*") if item.suffix in _SUFFIXES) if path.is_dir() else [path]
