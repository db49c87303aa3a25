"""What is known of an installed environment: its record, a file beside it."""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from odf_core.engines.environments.errors import EngineRecordUnreadable
from odf_core.engines.program import EngineProgram

RECORD = "engine.json"
PYTHON_FOLDER = "python"
_MOST_BYTES = 1 << 20


class ToldEngine(msgspec.Struct, frozen=True, kw_only=True):
    """An engine as its environment tells it: name, identity, and what it runs on by version."""

    name: str
    identity: str
    packages: dict[str, str] = {}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `odf_core.engines.tell`; what a later release adds is passed over."""

    protocol: int
    program: str | None = None
    python: str = ""
    engines: tuple[ToldEngine, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What was installed: from where, in the words of whoever did, when, and the contents of the source as a
    digest."""

    told: Told
    source: str
    fingerprint: str
    at: str


@dataclass(frozen=True, slots=True)
class Environment:
    """An installed environment in a folder of its own."""

    folder: Path
    record: Record

    @property
    def python(self) -> Path:
        """The program that runs its code."""
        return python_of(self.folder)

    def engine(self, name: str, identity: str) -> ToldEngine | None:
        """Its engine of this name and version, if it has it."""
        return next(
            (item for item in self.record.told.engines if (item.name, item.identity) == (name, identity)),
            None,
        )

    def program(self, identity: str) -> EngineProgram:
        """Runs the engine of this identity."""
        return EngineProgram(self.python, identity)

    def trouble(self) -> str | None:
        """Why it cannot be run any more, for instance after Python itself was updated."""
        if not os.access(self.python, os.X_OK):
            return f"its Python {self.python} is gone or cannot be run"
        return None


def python_of(folder: Path) -> Path:
    """The Python of the environment in a folder."""
    return folder / PYTHON_FOLDER / "bin" / "python"


def read_environment(folder: Path) -> Environment | None:
    """The environment in a folder; None where none was finished. Raises `EngineRecordUnreadable`."""
    try:
        with (folder / RECORD).open("rb") as file:
            content = file.read(_MOST_BYTES)
        return Environment(folder, msgspec.json.decode(content, type=Record))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise EngineRecordUnreadable(
            f"The record of an installed engine, {folder / RECORD}, cannot be read: {error}. Remove its "
            f"folder, and install the engine again if a dataset needs it.",
            objects=[folder],
        ) from error


def write_record(folder: Path, record: Record) -> None:
    """Makes the environment in a folder one that is installed: all at once, and for good."""
    made = folder / f"{RECORD}.new"
    with made.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    made.replace(folder / RECORD)
