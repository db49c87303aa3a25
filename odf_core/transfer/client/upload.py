"""One object from a file to a URL: PUT with its length, tried again while the storage is unavailable."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from odf_core.identity import ObjectRef
from odf_core.transfer.client.download import Stopped, object_refusal
from odf_core.transfer.client.errors import LocalObjectDamaged, RemoteUnavailable
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.progress import Progress

_OWN_HEADERS = frozenset({"content-length", "content-type", "transfer-encoding", "host"})


class _Watched:
    """A file as the body of a request: tells of what was read, ends when it should stop."""

    def __init__(self, file: BinaryIO, progress: Progress, stop: threading.Event) -> None:
        self._file = file
        self._progress = progress
        self._stop = stop
        self.sent = 0

    def read(self, size: int = -1) -> bytes:
        if self._stop.is_set():
            raise Stopped
        chunk = self._file.read(size)
        self.sent += len(chunk)
        self._progress.moved(len(chunk))
        return chunk


@dataclass(slots=True)
class Upload:
    """Sends the file `source` as `ref` to `url`; `stop` ends it early."""

    http: Http
    ref: ObjectRef
    url: str
    headers: Mapping[str, str]
    source: Path
    progress: Progress
    stop: threading.Event

    def run(self) -> int:
        """The size of the object, once the storage has answered 2xx.

        Raises `LocalObjectDamaged` where the file is missing or of another size, `RemoteUnavailable`,
        `TransferUrlRefused`, `UnexpectedAnswer`, `UrlExpired`, `Stopped`.
        """
        with open_object(self.source, self.ref) as file:
            size = file.seek(0, 2)
            failures = 0
            while True:
                file.seek(0)
                try:
                    self._put(file, size)
                except RemoteUnavailable as error:
                    failures += 1
                    if failures >= self.http.options.attempts or self.stop.is_set():
                        raise
                    self.http.pause(failures, error)
                else:
                    return size

    def _put(self, file: BinaryIO, size: int) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN_HEADERS}
        headers |= {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        body = _Watched(file, self.progress, self.stop)
        accepted = False
        try:
            with self.http.open("PUT", self.url, headers, body=body if size else b"") as answer:
                accepted = 200 <= answer.status < 300
                if not accepted:
                    raise object_refusal(self.http, answer, self.ref)
                while answer.read(4096):  # to its end, so that the connection can be used again
                    pass
        finally:
            if not accepted:
                self.progress.moved(-body.sent)


def open_object(source: Path, ref: ObjectRef) -> BinaryIO:
    """The file of a local object; raises `LocalObjectDamaged` where it is missing or of another size."""
    try:
        file = source.open("rb", buffering=0)
    except OSError as error:
        raise LocalObjectDamaged(
            f"{ref} cannot be read from the local dataset ({error.strerror}).",
            objects=[ref.hash],
            extras={"path": str(source)},
        ) from error
    size = source.stat().st_size
    if ref.size is not None and size != ref.size:
        file.close()
        raise LocalObjectDamaged(
            f"The file of {ref} has {size} bytes, but its block declares {ref.size}.",
            objects=[ref.hash],
            extras={"path": str(source), "declared": ref.size, "found": size},
        )
    return file
