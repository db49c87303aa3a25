"""The bucket of an rclone whose files lie on this machine: the node goes to the files themselves.

Clients upload and download through rclone by presigned URLs; the node reads, promotes (a hard link and
fsync instead of a copy through rclone), writes and deletes beneath it, and then tells rclone which
names have changed. Why this is sound and what it saves: docs/adr/0003-embedded-promotion.md.
"""

from collections.abc import Sequence
from pathlib import Path

from odf_core.storage.control import ChangeListener
from odf_core.storage.credentials import Credentials
from odf_core.storage.directory import DirectoryStore
from odf_core.storage.files import Modes
from odf_core.storage.s3 import S3Store

_PRIVATE = Modes(file=0o600, folder=0o700)


class EmbeddedS3Store(DirectoryStore):
    """The bucket `bucket` of the server that serves `local_root`; `server` is the way through S3."""

    def __init__(
        self, local_root: Path | str, bucket: str, server: S3Store, listener: ChangeListener
    ) -> None:
        super().__init__(Path(local_root) / bucket, modes=_PRIVATE)
        self._bucket = bucket
        self._served = self.root.parent
        self._shown: set[str] = set()  # folders that rclone has been told of since they were made
        self._server = server
        self._listener = listener

    def credentials(self) -> Credentials:
        """The key of the server, for a `Presigner`."""
        return self._server.credentials()

    def check(self) -> None:
        super().check()
        self._server.check()

    def close(self) -> None:
        self._server.close()

    def _make_folder(self, folder: Path) -> Sequence[Path]:
        parents = super()._make_folder(folder)
        if parents:
            self._shown.discard(str(folder))
        return parents

    def _announce(self, keys: Sequence[str]) -> None:
        """Have rclone read the folders of `keys` anew, and of new folders those above as well.

        One name makes it read the whole folder (`RcloneControl`).
        """
        paths = set({key.rpartition("/")[0]: f"{self._bucket}/{key}" for key in keys}.values())
        folders = {path.rpartition("/")[0] for path in paths}
        new = {folder for folder in folders if str(self._served / folder) not in self._shown}
        for folder in new:
            while folder and folder not in paths:
                paths.add(folder)
                folder = folder.rpartition("/")[0]
        if paths:
            self._listener.forget(paths)
        self._shown.update(str(self._served / folder) for folder in new)
