"""Installs an engine: all of it, or nothing."""

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from odf_core.engines.environments.asking import ask
from odf_core.engines.environments.errors import EngineSourceInvalid
from odf_core.engines.environments.records import Environment, Record, write_record
from odf_core.engines.environments.registry import EngineEnvironments
from odf_core.engines.environments.sources import Source, open_source, requirement_of
from odf_core.engines.environments.venv import make_venv, run_pip
from odf_core.transform.port import Say

_VERSION = re.compile(r"[0-9]+(\.[0-9]+)*([a-z]+[0-9]+)?")
_OF_SPARK = re.compile(r"(pyspark|py4j)==")


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment; `is_new` is False where its engines were here already and nothing was done."""

    environment: Environment
    is_new: bool


@dataclass(frozen=True, slots=True)
class Installer:
    """Makes environments in the folder of `environments`. `now` tells the time for the record.

    `prove` is asked about an environment whose PySpark is another than its release is pinned to, before it
    counts; what it raises ends the installation.
    """

    environments: EngineEnvironments
    prove: Callable[[Environment], None]
    say: Say = field(default=lambda text: None)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def install(self, text: str, spark: str | None = None) -> Installation:
        """From a folder, an sdist, a wheel or a requirement, with another version of PySpark if one is told.

        Raises `EngineSourceInvalid`, `EngineInstallFailed`, `EngineTellsNothing`, `EngineDoesNotRun`,
        `EngineProtocolUnsupported`; nothing is left then.
        """
        if spark is not None and not _VERSION.fullmatch(spark):
            raise EngineSourceInvalid(f"{spark[:80]!r} is no version of Spark, such as 4.0.1.")
        with self.environments.changing(self.say), self.environments.making() as folder:
            with self._source(text, folder) as source:
                fingerprint = source.fingerprint if spark is None else f"{source.fingerprint} pyspark {spark}"
                known = self.environments.installed_from(fingerprint)
                if known is not None:
                    return Installation(known, False)
                python = make_venv(folder, self.say)
                self._fill(python, source, spark)
            self.say("asking for its engines")
            told = ask(python)
            known = self.environments.like(told)
            if known is not None:
                return Installation(known, False)
            shown = source.text if spark is None else f"{source.text} with PySpark {spark}"
            record = Record(
                told=told, source=shown, fingerprint=fingerprint, at=self.now().isoformat(timespec="seconds")
            )
            made = Environment(folder, record)
            if spark is not None:
                self.say(f"trying Spark {spark}")
                self.prove(made)
            write_record(folder, record)
        return Installation(made, True)

    @contextmanager
    def _source(self, text: str, folder: Path) -> Iterator[Source]:
        """The release; one that is named by a requirement is fetched as a wheel, from which nothing runs."""
        requirement = requirement_of(text)
        if requirement is None:
            with open_source(Path(text).absolute()) as source:
                yield source
            return
        with tempfile.TemporaryDirectory(dir=folder) as place:
            python = make_venv(folder, self.say)
            only_it = ["--no-deps", "--only-binary", ":all:", "--dest", place]
            run_pip(python, ["download", *only_it, requirement], self.say)
            (wheel,) = Path(place).iterdir()
            with open_source(wheel, requirement) as source:
                yield source

    def _fill(self, python: Path, source: Source, spark: str | None) -> None:
        """Packages by the source's lock file where it has one, else as its metadata ask for them."""
        other = [] if spark is None else [f"pyspark=={spark}"]
        if source.lock is None:
            self._pip(python, str(source.path))
            if other:
                self._pip(python, *other)
            return
        self._locked(python, source.lock if spark is None else without_spark(source.lock))
        if other:
            self._pip(python, *other)
        alone = ["--no-deps"]
        if source.build_lock is not None:
            self._locked(python, source.build_lock)
            alone.append("--no-build-isolation")
        self._pip(python, *alone, str(source.path))

    def _locked(self, python: Path, lock: str) -> None:
        file = python.with_name("lock.txt")  # goes with the environment, whatever happens
        file.write_text(lock, encoding="utf-8")
        self._pip(python, "--require-hashes", "-r", str(file))

    def _pip(self, python: Path, *arguments: str) -> None:
        run_pip(python, ["install", *arguments], self.say)


def without_spark(lock: str) -> str:
    """The lock file without PySpark and the bridge that it pins."""
    kept, is_left_out = [], False
    for line in lock.splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            is_left_out = _OF_SPARK.match(line) is not None
        if not is_left_out:
            kept.append(line)
    return "".join(kept)
