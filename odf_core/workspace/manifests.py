"""Where manifests come from: files, folders, standard input, the web; all of it bounded."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from odf_core.limits import Limits
from odf_core.metadata import PlacedEvent, PlacedSnapshot, read_events, read_snapshots
from odf_core.workspace.errors import ManifestUnreadable

STDIN = "-"
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_WORD = b"DatasetSnapshot"
_MOST_FILES = 10_000

Fetch = Callable[[str, int], bytes]
"""Gets the body of an http(s) URL, of so many bytes at most."""


def is_url(reference: str) -> bool:
    """Whether a manifest is to be got from the web."""
    return reference.startswith(("http://", "https://"))


def read_manifests(
    references: Iterable[str],
    *,
    stdin: BinaryIO,
    fetch: Fetch,
    recursive: bool = False,
    limits: Limits | None = None,
) -> list[PlacedSnapshot]:
    """The snapshots of files, `-` and http(s) URLs; with `recursive` also of folders and what is below.

    In a folder only YAML and JSON files that speak of a DatasetSnapshot are read; names that begin with a
    dot and links to folders are passed over. Raises `ManifestUnreadable`, what `fetch` raises, and what
    `read_snapshots` raises.
    """
    bounds = limits or Limits()
    found: list[PlacedSnapshot] = []
    for reference in references:
        for source, data in _texts(reference, stdin, fetch, recursive, bounds.manifest_bytes):
            found += read_snapshots(data, source, bounds)
    if not found:
        raise ManifestUnreadable("There is no manifest of a dataset in what was given.")
    return found


def read_event_files(
    references: Iterable[str], *, stdin: BinaryIO, fetch: Fetch, limits: Limits | None = None
) -> list[PlacedEvent]:
    """The events of files, `-` and http(s) URLs, in this order. Raises `ManifestUnreadable`, what `fetch`
    raises, and what `read_events` raises."""
    bounds = limits or Limits()
    return [
        event
        for reference in references
        for source, data in _texts(reference, stdin, fetch, False, bounds.manifest_bytes)
        for event in read_events(data, source, bounds)
    ]


def _texts(
    reference: str, stdin: BinaryIO, fetch: Fetch, recursive: bool, most: int
) -> Iterator[tuple[str, bytes]]:
    if reference == STDIN:
        yield "standard input", _bounded(stdin, "standard input", most)
    elif is_url(reference):
        yield reference, fetch(reference, most)
    elif not Path(reference).is_dir():
        yield reference, _file(Path(reference), most)
    elif recursive:
        for path in _below(Path(reference)):
            data = _file(path, most)
            if _WORD in data:
                yield str(path), data
    else:
        raise ManifestUnreadable(
            f"{reference} is a folder; name a file, or, for `odf add`, give `--recursive` for all manifests "
            "below it.",
            objects=[reference],
        )


def _below(folder: Path) -> list[Path]:
    found: list[Path] = []
    waiting = [folder]
    while waiting:
        try:
            entries = sorted(waiting.pop().iterdir())
        except OSError as error:
            raise _unreadable(folder, error) from error
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                waiting += [] if entry.is_symlink() else [entry]
            elif entry.suffix.lower() in _SUFFIXES:
                found.append(entry)
        if len(found) > _MOST_FILES:
            raise ManifestUnreadable(
                f"{folder} holds more than {_MOST_FILES} YAML and JSON files; name fewer.", objects=[folder]
            )
    return sorted(found)


def _file(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return _bounded(file, str(path), most)
    except OSError as error:
        raise _unreadable(path, error) from error


def _bounded(file: BinaryIO, name: str, most: int) -> bytes:
    data = file.read(most + 1)
    if len(data) > most:
        raise ManifestUnreadable(
            f"{name} has more than {most} bytes, which is more than a manifest may have.", objects=[name]
        )
    return data


def _unreadable(path: Path, error: OSError) -> ManifestUnreadable:
    return ManifestUnreadable(f"{path} cannot be read: {error.strerror}.", objects=[path])
