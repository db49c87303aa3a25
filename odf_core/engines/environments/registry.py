"""The folder of installed environments: what is in it, and how one comes and goes.

An environment counts from the moment that its record is there, and no longer once that is gone. Whoever
changes the folder holds its lock; a folder without a record is what a killed installation has left, and is
swept by the next. Readers need no lock.
"""

import fcntl
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from odf_core.engines.environments.errors import EngineEnvironmentAmbiguous, EngineEnvironmentNotFound
from odf_core.engines.environments.records import RECORD, Environment, Told, read_environment
from odf_core.transform.port import Say

VARIABLE = "ODF_ENGINES_DIR"
_LOCK = ".lock"


def default_folder(environ: Mapping[str, str] | None = None) -> Path:
    """`ODF_ENGINES_DIR`, else a folder among the person's data."""
    named = (os.environ if environ is None else environ).get(VARIABLE)
    return (
        Path(named).absolute() if named else platformdirs.user_data_path("odf", appauthor=False) / "engines"
    )


@dataclass(frozen=True, slots=True)
class EngineEnvironments:
    """The environments in a folder, which is made when the first is installed."""

    folder: Path = field(default_factory=default_folder)

    def all(self) -> list[Environment]:
        """Every installed environment, the oldest first. Raises `EngineRecordUnreadable`."""
        try:
            folders = sorted(item for item in self.folder.iterdir() if not item.name.startswith("."))
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = [item for item in map(read_environment, folders) if item is not None]
        return sorted(found, key=lambda item: (item.record.at, item.folder))

    def find(self, name: str, identity: str) -> Environment | None:
        """The one that has this version of an engine; of several one that can be run."""
        found = [item for item in self.all() if item.engine(name, identity) is not None]
        return next((item for item in found if item.trouble() is None), found[0] if found else None)

    def like(self, told: Told) -> Environment | None:
        """One with the very engines that another tells."""
        engines = {(item.name, item.identity) for item in told.engines}
        return next(
            (
                item
                for item in self.all()
                if {(known.name, known.identity) for known in item.record.told.engines} == engines
                and item.trouble() is None
            ),
            None,
        )

    def installed_from(self, fingerprint: str) -> Environment | None:
        """One that was made of the same contents."""
        return next(
            (
                item
                for item in self.all()
                if item.record.fingerprint == fingerprint and item.trouble() is None
            ),
            None,
        )

    @contextmanager
    def changing(self, say: Say) -> Iterator[None]:
        """Holds the lock, having swept what unfinished installations left."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("waiting for another installation")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._sweep()
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def making(self) -> Iterator[Path]:
        """A fresh folder; removed again unless a record was written into it. The lock is held."""
        folder = self.folder / uuid.uuid4().hex[:12]
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            if not (folder / RECORD).exists():
                shutil.rmtree(folder)

    def remove(self, named: str, say: Say, before: Callable[[Environment], None]) -> Environment:
        """Removes the environment that has an engine of this version, or whose folder is called so, after
        `before` was called for it.

        Raises `EngineEnvironmentNotFound`, `EngineEnvironmentAmbiguous`.
        """
        with self.changing(say):
            environment = self._named(named)
            before(environment)
            (environment.folder / RECORD).unlink()
            shutil.rmtree(environment.folder)
        return environment

    def _named(self, named: str) -> Environment:
        found = [
            item
            for item in self.all()
            if named in (item.folder.name, *(engine.identity for engine in item.record.told.engines))
        ]
        if not found:
            raise EngineEnvironmentNotFound(
                f"No installed engine has the version {named}; `odf engine list` shows those that are "
                f"here. This program's own engines go with it.",
                objects=[named],
            )
        if len(found) > 1:
            shown = ", ".join(f"{item.folder.name} (from {item.record.source})" for item in found)
            raise EngineEnvironmentAmbiguous(
                f"Several environments have an engine of the version {named}; name one of them: {shown}.",
                objects=[item.folder.name for item in found],
            )
        return found[0]

    def _sweep(self) -> None:
        for folder in self.folder.iterdir():
            if folder.is_dir() and not folder.name.startswith(".") and not (folder / RECORD).exists():
                shutil.rmtree(folder, ignore_errors=True)  # what cannot go now goes next time
