"""The Python that runs an engine's code: this program's own, or that of an installed environment."""

import hashlib
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class EngineProgram:
    """How an engine's process is started.

    `identity` is what the engine must turn out to be; None for the code that runs here, which cannot be
    another one. `root` is where the code lies if not among the packages of `python`.
    """

    python: Path
    identity: str | None = None
    root: Path | None = None

    def command(self, module: str, *arguments: str) -> list[str]:
        """Runs a module of it; nothing is imported from the folder that it is started in."""
        return [str(self.python), "-P", "-m", module, *arguments]

    def paths(self) -> dict[str, str]:
        """What Python's environment needs for it."""
        return {} if self.root is None else {"PYTHONPATH": str(self.root)}

    def digest(self) -> str:
        """Names the code that an engine runs, so that no program ever speaks to an engine of another."""
        return _own_digest() if self.identity is None else _digest([str(self.python), self.identity])


OWN = EngineProgram(Path(sys.executable), root=_PACKAGE.parent)
"""The code that runs here."""


@cache
def _own_digest() -> str:
    """By times of change: whoever edits an engine gets a new process."""
    files = [*(_PACKAGE / "engines").rglob("*.py"), *(_PACKAGE / "engines").rglob("*.java")]
    return _digest(sorted(f"{path}:{path.stat().st_mtime_ns}" for path in files))


def _digest(told: list[str]) -> str:
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
