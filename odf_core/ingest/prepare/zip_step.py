"""`decompress` of zip: one file of an archive that a stranger has made."""

import errno
import fnmatch
import io
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from odf_core.ingest.errors import ArchiveDamaged, ArchiveEntryNotFound, ArchiveUnsafe
from odf_core.ingest.prepare.options import PrepareContext
from odf_core.ingest.prepare.sink import sink
from odf_core.ingest.words import shown

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may take memory without a bound
_ENCRYPTED = 0x1 | 0x40
_SHOWN = 10
# What the standard reader lets out of itself over broken archives.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    ValueError,
    IndexError,
    RuntimeError,
    OverflowError,
)


def unzip(path: Path, sub_path: str | None, context: PrepareContext) -> Path:
    """A new file with one entry: that of `sub_path` (exact, or all that its pattern fits), else the first.

    Raises `ArchiveDamaged`, `ArchiveUnsafe`, `ArchiveEntryNotFound`, `PreparedTooLarge`.
    """
    try:
        with _Bounded(path, context.options.max_directory_bytes) as file, zipfile.ZipFile(file) as archive:
            entry = _choose(archive, sub_path)
            _refuse_odd(entry)
            return _extract(archive, entry, context)
    except _BROKEN as error:
        raise _damaged(str(error)) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # an offset of the archive's own that lies before the file
            raise _damaged("it names a place outside of itself") from error
        raise


def _damaged(why: str) -> ArchiveDamaged:
    return ArchiveDamaged(
        f"The input cannot be read as a zip file: {shown(why)}. Fetch or send it again, or "
        "correct the `decompress` step."
    )


class _Bounded(io.FileIO):
    """A file of which no more is taken into memory at once than the list of entries may be long."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path)
        self._limit = limit

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self._limit:
            raise zipfile.BadZipFile(f"its list of entries has {size} bytes, the limit is {self._limit}")
        return super().read(-1 if size is None else size) or b""


def _choose(archive: zipfile.ZipFile, sub_path: str | None) -> zipfile.ZipInfo:
    entries = archive.infolist()
    for entry in entries:
        _refuse_climbing(entry)
    files = [entry for entry in entries if not entry.is_dir()]
    if sub_path is None:
        if not files:
            raise ArchiveEntryNotFound("The zip file has no file in it.")
        return files[0]
    chosen = [entry for entry in files if entry.filename == sub_path]
    if not chosen:
        chosen = [entry for entry in files if fnmatch.fnmatchcase(entry.filename, sub_path)]
    if len(chosen) == 1:
        return chosen[0]
    names = [repr(entry.filename[:100]) for entry in chosen or files]
    found = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    raise ArchiveEntryNotFound(
        f"The zip file has {'several files' if chosen else 'no file'} for the subPath {sub_path[:200]!r}; "
        f"{'they are' if chosen else 'it has'}: {found or 'nothing'}."
    )


def _refuse_climbing(entry: zipfile.ZipInfo) -> None:
    """Nothing is ever written under an entry's name; such an archive is an attack all the same."""
    name = entry.filename.replace("\\", "/")
    if name.startswith("/") or name[1:2] == ":" or ".." in PurePosixPath(name).parts:
        raise ArchiveUnsafe(
            f"The zip file has an entry {entry.filename[:200]!r}, which leads out of its folder."
        )


def _refuse_odd(entry: zipfile.ZipInfo) -> None:
    shown = repr(entry.filename[:200])
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise ArchiveUnsafe(f"The entry {shown} of the zip file is a link or device, not a file.")
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveUnsafe(f"The entry {shown} of the zip file is encrypted; send it without a password.")
    if entry.compress_type not in _METHODS:
        raise ArchiveUnsafe(
            f"The entry {shown} of the zip file is compressed by method {entry.compress_type}; "
            "only stored and deflated entries are unpacked."
        )


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, context: PrepareContext) -> Path:
    what = f"The entry {entry.filename[:200]!r} of the zip file"
    with archive.open(entry) as source, sink(what, context) as out:
        while data := source.read(context.options.chunk_bytes):
            out.write(data, lambda: entry.compress_size)
        if out.size != entry.file_size:
            raise zipfile.BadZipFile(f"{entry.filename[:200]!r} has {out.size} of {entry.file_size} bytes")
    return out.path
