"""The files of one shapefile, taken out of a zip archive within bounds."""

import codecs
import zipfile
import zlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from odf_core.ingest.read.errors import InputLimitExceeded, MalformedInput
from odf_core.limits import MiB

_PIECE = MiB
_MOST_MEMBERS = 100_000
_LONGEST_CPG = 64
# Language driver of a dBase file (its byte 29) where no .cpg names the encoding.
_DRIVERS = {0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x57: "cp1252", 0x65: "cp866", 0xC9: "cp1251"}
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True)
class Layer:
    """One shapefile: geometry, attributes and their encoding; `member` is its name in the archive."""

    member: str
    shp: Path
    dbf: Path
    encoding: str


def extract_layer(path: Path, sub_path: str | None, folder: Path, *, name: str, most_bytes: int) -> Layer:
    """Extracts the archive's only shapefile, or the one that `sub_path` names or matches as a pattern.

    Files get names of our own, so no member can leave the folder; an archive with such members is refused
    all the same. Raises `MalformedInput`, `InputLimitExceeded`.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info.filename for info in archive.infolist() if not info.is_dir()]
            shp = _choose(members, sub_path, name)
            parts = _parts(members, shp)
            if ".dbf" not in parts:
                raise MalformedInput.at(name, f"the archive has no .dbf file beside {shp!r}.")
            taken = 0
            for suffix in (".shp", ".dbf", ".cpg"):
                if suffix in parts:
                    target = folder / f"layer{suffix}"
                    taken += _extract(archive, parts[suffix], target, most_bytes - taken, name)
    except _FAULTS as error:
        raise MalformedInput.at(
            name, f"it is no zip archive that can be read ({error}); a shapefile comes as one archive."
        ) from error
    dbf = folder / "layer.dbf"
    return Layer(shp, folder / "layer.shp", dbf, _encoding(folder / "layer.cpg", dbf))


def _choose(members: list[str], sub_path: str | None, name: str) -> str:
    if len(members) > _MOST_MEMBERS:
        raise InputLimitExceeded.at(name, f"the archive has more than {_MOST_MEMBERS} members.")
    for member in members:
        if member.startswith(("/", "\\")) or ".." in PurePosixPath(member.replace("\\", "/")).parts:
            raise MalformedInput.at(name, f"the archive's member {member[:80]!r} climbs out of its folder.")
    found = [member for member in members if member.lower().endswith(".shp") and _is_content(member)]
    if sub_path is not None:
        found = [m for m in found if m == sub_path] or [m for m in found if fnmatchcase(m, sub_path)]
    if len(found) == 1:
        return found[0]
    which = f"that matches {sub_path!r}" if sub_path is not None else "in it"
    if not found:
        raise MalformedInput.at(name, f"the archive has no .shp file {which}.")
    raise MalformedInput.at(
        name,
        f"the archive has {len(found)} shapefiles {which} ({', '.join(sorted(found)[:5])}); name one in the "
        "`subPath` of the read step.",
    )


def _is_content(member: str) -> bool:
    return not member.startswith("__MACOSX/") and not PurePosixPath(member).name.startswith("._")


def _parts(members: list[str], shp: str) -> dict[str, str]:
    """Members that have the name of the chosen .shp, by suffix."""
    stem = shp[:-4].lower()
    return {m[-4:].lower(): m for m in members if m[:-4].lower() == stem and m[-4:-3] == "."}


def _extract(archive: zipfile.ZipFile, member: str, target: Path, most_bytes: int, name: str) -> int:
    size = 0
    with archive.open(member) as source, target.open("wb") as file:
        while piece := source.read(_PIECE):
            size += len(piece)
            if size > most_bytes:
                raise InputLimitExceeded.at(name, "the archive expands to more bytes than are allowed.")
            file.write(piece)
    return size


def _encoding(cpg: Path, dbf: Path) -> str:
    if cpg.exists():
        with cpg.open("rb") as file:
            text = file.read(_LONGEST_CPG).decode("latin-1").strip().lower().removeprefix("ansi ")
        for candidate in (text, f"cp{text}", f"iso{text}"):
            try:
                return codecs.lookup(candidate).name
            except (LookupError, ValueError):
                continue
    with dbf.open("rb") as file:
        head = file.read(32)
    return _DRIVERS.get(head[29], "utf-8") if len(head) == 32 else "utf-8"
