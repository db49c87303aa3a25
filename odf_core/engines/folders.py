"""The folders of an engine: where its socket is, and where it may work.

The *runtime folder* holds the socket, the locks and the state; it is small and its path is short, for a
socket's path has at most about a hundred characters. The *work folder* holds requests, scratch space and
the log, on a disk. Both are named by a digest of options and code, so callers with equal ones share an
engine, and versions of it live side by side.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from odf_core.engines.errors import EngineStartFailed
from odf_core.engines.options import RUNTIME_VARIABLE, SparkOptions
from odf_core.engines.program import OWN, EngineProgram

_MOST_SOCKET_CHARS = 100


@dataclass(frozen=True, slots=True)
class EngineFolders:
    """The places of one engine."""

    runtime: Path
    work: Path
    cache: Path

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.runtime / "s"

    @property
    def start_lock(self) -> Path:
        """Held by whoever starts or stops the engine."""
        return self.runtime / "start.lock"

    @property
    def life_lock(self) -> Path:
        """Held by the engine as long as it lives; whoever can take it knows that none runs."""
        return self.runtime / "life.lock"

    @property
    def state(self) -> Path:
        """What the running engine says about itself (JSON)."""
        return self.runtime / "state.json"

    @property
    def log(self) -> Path:
        """What it and its Java print."""
        return self.work / "log"

    @property
    def inputs(self) -> Path:
        """Files of requests, which the engine may read."""
        return self.work / "in"

    @property
    def outputs(self) -> Path:
        """Folders of requests, in which the engine may write."""
        return self.work / "out"

    @property
    def scratch(self) -> Path:
        """The engine's own space; emptied when one starts."""
        return self.work / "tmp"

    def create(self) -> None:
        """Makes the folders, for this user alone; raises `EngineStartFailed` if another user has them."""
        for folder in (self.runtime, self.work, self.inputs, self.outputs, self.scratch, self.cache):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.runtime, self.work, self.cache):
            found = folder.stat(follow_symlinks=False)
            if found.st_uid != os.geteuid() or folder.is_symlink():
                raise EngineStartFailed(
                    f"The folder {folder} belongs to another user; name one of your own by ODF_RUNTIME_DIR "
                    "or spark.work_dir.",
                    objects=[folder],
                )
            folder.chmod(0o700)


def engine_folders(options: SparkOptions, program: EngineProgram = OWN) -> EngineFolders:
    """The places of the engine of this program that these options share (nothing is made)."""
    name = "spark-" + options.digest(program.digest())
    caches = platformdirs.user_cache_path("odf")
    work = options.work_dir or caches / "engine"
    runtime = _short(options.runtime_dir or _runtime_dir(caches), name)
    return EngineFolders(runtime / name, work / name, caches / "java")


def _short(folder: Path, name: str) -> Path:
    """The folder, or one of this user under the temporary folder where its path is too long for a socket."""
    if len(os.fsencode(folder / name / "s")) <= _MOST_SOCKET_CHARS:
        return folder
    told = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"odf-{os.geteuid()}-{told}"


def _runtime_dir(otherwise: Path) -> Path:
    """`ODF_RUNTIME_DIR`, else a folder in that of the user's session, else in the cache."""
    named = os.environ.get(RUNTIME_VARIABLE)
    if named:
        return Path(named)
    session = os.environ.get("XDG_RUNTIME_DIR")
    return (Path(session) if session and Path(session).is_dir() else otherwise) / "odf"
