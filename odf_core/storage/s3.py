"""A bucket of an S3 server as an object store.

Relies on nothing that stack.md 2.9 warns of: no conditional requests, no checksums, no metadata of
objects, no subresources, no multipart copy; a part may come with status 200.
"""

import contextlib
import re
import secrets
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, cast

from odf_core.storage.credentials import Credentials
from odf_core.storage.errors import ObjectNotFound, StoreMisbehaved, StoreUnavailable
from odf_core.storage.keys import check_key, check_prefix, is_hidden
from odf_core.storage.port import ObjectInfo, Readable
from odf_core.storage.s3_client import S3Clients
from odf_core.storage.s3_config import S3Config
from odf_core.storage.s3_errors import s3_errors
from odf_core.storage.streams import BoundedStream, part_of, readable, seekable_size, spooled, wrong_size
from odf_core.storage.whole import read_whole

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

CLAIMED = "claimed-"
_DELETED_AT_ONCE = 1000  # S3's bound
_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19})")


class S3Store:
    """The objects of `config.bucket`; one pool of connections, shared by all threads.

    `clients`, made from the same configuration but for the bucket, can be shared by several stores;
    who made them closes them.
    """

    def __init__(self, config: S3Config, *, clients: S3Clients | None = None) -> None:
        self._bucket = config.bucket
        self._owns_clients = clients is None
        with s3_errors("use", self._bucket, ""):
            self._clients = clients or S3Clients(config)
        self._s3 = self._clients.client

    def credentials(self) -> Credentials:
        """The present credentials, for a `Presigner`."""
        with s3_errors("sign for", self._bucket, ""):
            return self._clients.credentials()

    def close(self) -> None:
        if self._owns_clients:
            self._clients.close()

    def read(self, key: str, *, max_bytes: int) -> bytes:
        with self.open(key) as stream:
            return read_whole(stream, key, max_bytes)

    def open(self, key: str, *, start: int = 0, end: int | None = None) -> BoundedStream:
        check_key(key)
        if start == 0 and end is None:
            return self._open_whole(key)
        if end is not None and end <= start:
            part_of(key, 0, start, end)
        last = "" if end is None else str(end - 1)
        with s3_errors("read", self._bucket, key):
            answer = self._s3.get_object(Bucket=self._bucket, Key=key, Range=f"bytes={start}-{last}")
        return self._part(key, answer, start, end)

    def stat(self, key: str) -> ObjectInfo | None:
        check_key(key)
        try:
            with s3_errors("look at", self._bucket, key):
                found = self._s3.head_object(Bucket=self._bucket, Key=key)
        except ObjectNotFound:
            return None
        return ObjectInfo(key, found["ContentLength"], found.get("LastModified"))

    def write(self, key: str, source: bytes | Readable, *, size: int, settle: bool = True) -> None:
        check_key(key)
        body = readable(source)
        there = seekable_size(body)
        if there is not None:
            self._put(key, cast("IO[bytes]", body), there, size)
            return
        copy, there = spooled(body, max_size=size)  # without a way back, nothing could be tried again
        with copy:
            self._put(key, copy, there, size)

    def copy(self, source: str, target: str, *, settle: bool = True) -> None:
        check_key(source), check_key(target)
        origin = {"Bucket": self._bucket, "Key": source}
        with s3_errors("copy", self._bucket, source):
            self._clients.copier.copy_object(Bucket=self._bucket, Key=target, CopySource=cast("Any", origin))

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator["_ClaimedCopy"]:
        """A copy under a name that no URL was ever made for: an uploader can replace only the original.

        A condition on the ETag would not do: not every server honours it, and MD5 can be forged.
        """
        folder = check_key(key)[: key.rfind("/") + 1]
        private = f"{folder}{CLAIMED}{secrets.token_hex(8)}"
        self.copy(key, private)
        try:
            found = self.stat(private)
            if found is None:
                raise ObjectNotFound(f"There is no object {private} any more.", objects=[key])
            yield _ClaimedCopy(self, key, private, found.size)
        finally:
            self.delete([private])

    def settle(self, keys: Iterable[str]) -> None:
        """S3 has settled what it has answered for."""
        for key in keys:
            check_key(key)

    def delete(self, keys: Iterable[str]) -> None:
        remaining = iter(keys)
        while batch := [check_key(key) for key in islice(remaining, _DELETED_AT_ONCE)]:
            with s3_errors("delete", self._bucket, batch[0]):
                answer = self._s3.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in batch], "Quiet": True}
                )
            failed = [error for error in answer.get("Errors", []) if error.get("Code") != "NoSuchKey"]
            if failed:
                names = [error.get("Key", "") for error in failed]
                codes = sorted({error.get("Code", "") for error in failed})
                raise StoreUnavailable(
                    f"{len(failed)} objects could not be deleted ({', '.join(codes)}).", objects=names
                )

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        with s3_errors("list", self._bucket, prefix):
            for page in self._s3.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix
            ):
                for found in page.get("Contents", []):
                    key = found["Key"]
                    if not is_hidden(key) and not key.endswith("/"):
                        yield ObjectInfo(key, found["Size"], found.get("LastModified"))

    def remove_stranded(self, older_than: timedelta) -> int:
        return 0  # uploads are single PUTs; claims that were left lie in staging and are swept there

    def check(self) -> None:
        with s3_errors("use", self._bucket, ""):
            self._s3.head_bucket(Bucket=self._bucket)

    def _put(self, key: str, body: IO[bytes], there: int, size: int) -> None:
        if there != size:
            raise wrong_size(key, size, None if there > size else there)
        with s3_errors("write", self._bucket, key):
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=body, ContentLength=size)

    def _open_whole(self, key: str) -> BoundedStream:
        with s3_errors("read", self._bucket, key):
            answer = self._s3.get_object(Bucket=self._bucket, Key=key)
        size = answer["ContentLength"]
        return _S3Stream(answer, self._bucket, key, size=size, left=size)

    def _part(self, key: str, answer: "GetObjectOutputTypeDef", start: int, end: int | None) -> BoundedStream:
        """What came, if `Content-Range` says that it is what was asked for; the status does not matter."""
        found = _CONTENT_RANGE.fullmatch(answer.get("ContentRange", ""))
        if found is not None:
            first, last, size = (int(number) for number in found.groups())
            stop = size if end is None else min(end, size)
            if (first, last) == (start, stop - 1) and last < size:
                return _S3Stream(answer, self._bucket, key, size=size, left=stop - start)
        answer["Body"].close()
        raise StoreMisbehaved(
            f"The S3 server was asked for a part of {key} and sent another one.",
            objects=[key],
            extras={"content_range": answer.get("ContentRange")},
        )


class _S3Stream(BoundedStream):
    """The body of an answer; what its connection raises is turned into our errors."""

    def __init__(
        self, answer: "GetObjectOutputTypeDef", bucket: str, key: str, *, size: int, left: int
    ) -> None:
        super().__init__(cast("Any", answer["Body"]), key, size=size, left=left)
        self._bucket = bucket

    def _read(self, n: int) -> bytes:
        with s3_errors("read", self._bucket, self._key):
            return self._file.read(n)


class _ClaimedCopy:
    path = None

    def __init__(self, store: S3Store, key: str, private: str, size: int) -> None:
        self._store, self._private = store, private
        self.key = key
        self.size = size

    def open(self, *, start: int = 0, end: int | None = None) -> BoundedStream:
        return self._store.open(self._private, start=start, end=end)

    def publish(self, target: str, *, settle: bool = True) -> None:
        self._store.copy(self._private, target)
