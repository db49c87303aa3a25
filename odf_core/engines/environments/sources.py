"""What an engine is installed from: a folder, an sdist or a wheel of odf-node, or a release by its number."""

import hashlib
import re
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from odf_core.engines.contract import TELL
from odf_core.engines.environments.errors import EngineSourceInvalid, EngineTellsNothing
from odf_core.engines.tell import DISTRIBUTION, told
from odf_core.limits import MiB

_NAME = re.compile(r"odf[-_.]node", re.IGNORECASE)
_REQUIREMENT = re.compile(r"odf[-_.]node\s*(==\s*[0-9A-Za-z.!+_-]+)?", re.IGNORECASE)
_TELLER = TELL.replace(".", "/") + ".py"
_LOCKS = ("requirements-image.txt", "requirements.txt")
_LOCK_OF_WHEEL = re.compile(r"[^/]+\.dist-info/extra_metadata/requirements\.txt")
_BUILD_LOCK = "requirements-build.txt"
_PACKAGES = ("odf_core", "app", "migrations")
_HASHED = "--hash="
_MOST_LOCK_BYTES = 16 * MiB
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A release in `path`, a folder or a wheel.

    `text` is what a list shows for it, `fingerprint` a digest of its contents. `lock` are pinned requirements
    with hashes, `build_lock` those of the tools that make a wheel of a folder; None where it has none.
    """

    text: str
    path: Path
    fingerprint: str
    lock: str | None = None
    build_lock: str | None = None


def own_source() -> str:
    """Where the code that runs here can be installed from: its source tree, or its release."""
    tree = Path(__file__).resolve().parents[3]
    if (tree / "pyproject.toml").is_file():
        return str(tree)
    release = told()["program"]
    return DISTRIBUTION if release is None else f"{DISTRIBUTION}=={release}"


def requirement_of(text: str) -> str | None:
    """The requirement that a text is, if it names no file or folder. Raises `EngineSourceInvalid`."""
    if Path(text).exists():
        return None
    if _REQUIREMENT.fullmatch(text.strip()):
        return text.strip()
    raise EngineSourceInvalid(
        f"{text[:200]!r} is neither a folder, an sdist or a wheel of {DISTRIBUTION}, nor a release of it "
        f"such as `{DISTRIBUTION}==1.2.0`.",
        objects=[text[:200]],
    )


@contextmanager
def open_source(path: Path, text: str | None = None) -> Iterator[Source]:
    """The release in a file or folder; an sdist is unpacked for as long as it is needed.

    Raises `EngineSourceInvalid`, `EngineTellsNothing`.
    """
    shown = text or str(path)
    if path.is_dir():
        yield _folder(path, shown)
    elif path.suffix == ".whl":
        yield _wheel(path, shown)
    elif path.name.endswith(".tar.gz"):
        with tempfile.TemporaryDirectory(prefix="odf-engine-") as place:
            yield replace(_folder(_unpacked(path, Path(place)), shown), fingerprint=_digest(_file(path)))
    else:
        raise EngineSourceInvalid(f"{shown} is no folder, wheel (.whl) or sdist (.tar.gz).", objects=[shown])


def _folder(path: Path, shown: str) -> Source:
    try:
        project = tomllib.loads((path / "pyproject.toml").read_text(encoding="utf-8"))
        name = str(project["project"]["name"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineSourceInvalid(
            f"The folder {shown} has no pyproject.toml of a release of {DISTRIBUTION}.", objects=[shown]
        ) from error
    if not _NAME.fullmatch(name):
        raise EngineSourceInvalid(f"{shown} holds {name}, not {DISTRIBUTION}.", objects=[shown])
    _require_teller((path / _TELLER).is_file(), shown)
    lock = next((text for text in (_locked(path / name) for name in _LOCKS) if text is not None), None)
    return Source(shown, path.resolve(), _digest(_tree(path)), lock, _locked(path / _BUILD_LOCK))


def _wheel(path: Path, shown: str) -> Source:
    if not _NAME.fullmatch(path.name.split("-")[0]):
        raise EngineSourceInvalid(
            f"{shown} is a wheel of something else than {DISTRIBUTION}.", objects=[shown]
        )
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            lock = next((name for name in names if _LOCK_OF_WHEEL.fullmatch(name)), None)
            if lock is not None and archive.getinfo(lock).file_size > _MOST_LOCK_BYTES:
                raise EngineSourceInvalid(f"The lock file in {shown} is too large.", objects=[shown])
            text = None if lock is None else _hashed(archive.read(lock).decode())
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise EngineSourceInvalid(f"{shown} cannot be read as a wheel: {error}.", objects=[shown]) from error
    _require_teller(_TELLER in names, shown)
    return Source(shown, path.resolve(), _digest(_file(path)), text)


def _unpacked(path: Path, place: Path) -> Path:
    try:
        with tarfile.open(path, "r:gz") as archive:
            archive.extractall(place, filter="data")
    except (OSError, tarfile.TarError, EOFError) as error:
        raise EngineSourceInvalid(f"{path} cannot be read as an sdist: {error}.", objects=[path]) from error
    folders = [item for item in place.iterdir() if item.is_dir()]
    if len(folders) != 1:
        raise EngineSourceInvalid(f"{path} is no sdist: it has to hold one folder.", objects=[path])
    return folders[0]


def _require_teller(has_it: bool, shown: str) -> None:
    if not has_it:
        raise EngineTellsNothing(
            f"{shown} is a release of {DISTRIBUTION} from before engines were installed side by side: it "
            f"cannot tell which engines it has.",
            objects=[shown],
        )


def _locked(path: Path) -> str | None:
    return _hashed(path.read_text(encoding="utf-8")) if path.is_file() else None


def _hashed(text: str) -> str | None:
    """A lock file, or None for a list of requirements without hashes."""
    return text if _HASHED in text else None


def _digest(told: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in told:
        digest.update(chunk)
    return digest.hexdigest()


def _file(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _tree(path: Path) -> Iterator[bytes]:
    """Names and contents of what a wheel is made of."""
    files = [path / name for name in ("pyproject.toml", *_LOCKS, _BUILD_LOCK) if (path / name).is_file()]
    for package in _PACKAGES:
        found = (path / package).rglob("*")
        files += [item for item in found if item.is_file() and "__pycache__" not in item.parts]
    for file in sorted(files):
        yield f"{file.relative_to(path).as_posix()} {file.stat().st_size}\n".encode()
        yield from _file(file)
