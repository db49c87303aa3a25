"""A dataset to read from, over the Simple Transfer Protocol or from a folder in the same layout.

Both are read-only and hold `refs/head`, `blocks/`, `data/` and `checkpoints/` (metadata.md 4), so any
static web server will do.
"""

import shutil
import threading
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import StoredBlock, read_block
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.download import Download, UrlExpired
from odf_core.transfer.client.errors import DownloadMismatch, RemoteDatasetNotFound, RemoteObjectNotFound
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.partial import hash_file
from odf_core.transfer.client.progress import SILENT, Progress
from odf_core.transfer.client.repository import bearer, remote_head

_PATHS = {ObjectKind.DATA_SLICE: "data/", ObjectKind.CHECKPOINT: "checkpoints/"}


class DatasetSource(Protocol):
    """Where blocks and objects are read from; every answer has been checked against its hash."""

    def head(self) -> Multihash:
        """The head; raises `RemoteDatasetNotFound` where there is no dataset."""

    def read_block(self, block_hash: Multihash) -> StoredBlock:
        """One block; raises `RemoteObjectNotFound`, and what `metadata.read_block` raises."""

    def fetch(self, ref: ObjectRef, target: Path, stop: threading.Event) -> int:
        """Bring one object to the file `target`; the bytes moved."""


class HttpSource:
    """A dataset below the `http(s)` URL of `address`, read with `token` if there is one."""

    def __init__(
        self, http: Http, address: DatasetAddress, token: str | None, progress: Progress = SILENT
    ) -> None:
        self._http = http
        self._address = address
        self._token = token
        self._headers = bearer(token)
        self._progress = progress

    def __str__(self) -> str:
        return str(self._address)

    def head(self) -> Multihash:
        return remote_head(self._http, self._address.url, self._token)

    def read_block(self, block_hash: Multihash) -> StoredBlock:
        def missing(url: str) -> OdfError:
            return RemoteObjectNotFound(
                f"{self} lacks block {block_hash}, which its chain names.", objects=[block_hash]
            )

        limits = self._http.options.limits
        url = self._address.join(f"blocks/{block_hash}")
        data = self._http.get_text(url, self._headers, max_bytes=limits.block_bytes, missing=missing)
        return read_block(data, block_hash, limits)

    def fetch(self, ref: ObjectRef, target: Path, stop: threading.Event) -> int:
        url = self._address.join(_PATHS[ref.kind] + str(ref.hash))
        try:
            return Download(self._http, ref, url, self._headers, target, self._progress, stop).run()
        except UrlExpired as expired:  # a plain address does not age: the refusal is the answer
            raise expired.refused from expired


class FolderSource:
    """A dataset in a folder of this machine."""

    def __init__(self, path: Path, limits: Limits, progress: Progress = SILENT) -> None:
        self.folder = DatasetFolder(path, limits)
        self._progress = progress

    def __str__(self) -> str:
        return str(self.folder.path)

    def head(self) -> Multihash:
        head = self.folder.head()
        if head is None:
            raise RemoteDatasetNotFound(f"There is no dataset in {self}.", objects=[self])
        return head

    def read_block(self, block_hash: Multihash) -> StoredBlock:
        return self.folder.read_block(block_hash)

    def fetch(self, ref: ObjectRef, target: Path, stop: threading.Event) -> int:
        source = self.folder.object_path(ref)
        if not source.is_file():
            raise RemoteObjectNotFound(f"{self} lacks {ref}, which its chain names.", objects=[ref.hash])
        pending = target.with_name(f".pending-{target.name}")
        shutil.copyfile(source, pending)
        found, size = hash_file(pending)
        if found != ref.hash or (ref.size is not None and size != ref.size):
            pending.unlink()
            raise DownloadMismatch(
                f"The file of {ref} in {self} has {size} bytes that hash to {found}.",
                objects=[ref.hash],
                extras={"declared": ref.size, "received": str(found)},
            )
        pending.replace(target)
        self._progress.moved(size)
        return size


def folder_of(url: str) -> Path | None:
    """The folder of a `file:` URL, None for any other."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme.lower() == "file" else None
