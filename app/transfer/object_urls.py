"""Where the bytes of objects move: presigned addresses of the bucket, or this node's own routes.

`transfer.mode` chooses (promise 5, peers.md 5-7). Both kinds are valid for a bounded time that grows
with the declared bytes, and asking again for the same objects is always allowed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from app.context import NodeContext
from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.storage import dataset_prefix, object_key, staging_key
from odf_core.transfer.model import PullStrategy, PushStrategy, TransferUrl

ASSUMED_BYTES_PER_SECOND = 1 << 20  # a slow line; bounds how long a URL of a big object lives
UPLOAD_SESSION_HEADER = "x-odf-upload-session"

ObjectKey = tuple[ObjectKind, Multihash]
"""An object within a dataset; its size is a claim, not part of what it is."""


def key_of(item: ObjectRef) -> ObjectKey:
    return item.kind, item.hash


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks, as far as addresses depend on it: the dataset's address and the caller's own token."""

    dataset_url: str
    authorization: str | None

    def proxied_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers that the deployed node asks for on its own routes (wire.md 4)."""
        version = (("x-odf-smtp-version", "1"),)
        return version if self.authorization is None else (*version, ("authorization", self.authorization))

    def object_url(self, item: ObjectRef) -> str:
        return f"{self.dataset_url}/{object_key(item)}"


def lifetime_seconds(context: NodeContext, total_bytes: int) -> int:
    """`transfer.url_ttl_seconds` and a second per MiB, `transfer.url_ttl_max_seconds` at most."""
    settings = context.settings.transfer
    return min(
        settings.url_ttl_seconds + total_bytes // ASSUMED_BYTES_PER_SECOND, settings.url_ttl_max_seconds
    )


def download_strategies(
    context: NodeContext,
    requester: Requester,
    dataset_id: DatasetId,
    objects: Sequence[ObjectRef],
    total_bytes: int,
) -> list[PullStrategy]:
    """One HttpDownload per object, in the order asked (wire.md 3.4, message 6)."""
    if context.settings.transfer.mode == "proxied":
        headers = requester.proxied_headers()
        return [
            PullStrategy(object=item, url=TransferUrl(requester.object_url(item), headers))
            for item in objects
        ]
    lifetime = lifetime_seconds(context, total_bytes)
    expires_at = datetime.now(UTC) + timedelta(seconds=lifetime)
    prefix = dataset_prefix(dataset_id)
    urls = context.presigner.get_urls([prefix + object_key(item) for item in objects], lifetime)
    return [
        PullStrategy(object=item, url=TransferUrl(url, (), expires_at))
        for item, url in zip(objects, urls, strict=True)
    ]


def upload_strategies(
    context: NodeContext,
    requester: Requester,
    session_id: UUID,
    objects: Sequence[ObjectRef],
    sizes: Mapping[ObjectKey, int],
    present: frozenset[ObjectKey],
) -> list[PushStrategy]:
    """SkipUpload for what the node holds and has verified, else a PUT into this session's staging.

    An object that is listed again in the same request is uploaded once: the deployed client lists a
    checkpoint with every block that carries it and would send all of them at once (wire.md 3.5), of which
    the embedded S3 server refuses some.
    """
    missing = list({key_of(item): item for item in objects if key_of(item) not in present}.values())
    addresses = _upload_urls(context, requester, session_id, missing, sizes)
    urls = dict(zip(map(key_of, missing), addresses, strict=True))
    return [PushStrategy(object=item, upload_to=urls.pop(key_of(item), None)) for item in objects]


def _upload_urls(
    context: NodeContext,
    requester: Requester,
    session_id: UUID,
    objects: Sequence[ObjectRef],
    sizes: Mapping[ObjectKey, int],
) -> list[TransferUrl]:
    if context.settings.transfer.mode == "proxied":
        headers = (*requester.proxied_headers(), (UPLOAD_SESSION_HEADER, str(session_id)))
        return [TransferUrl(requester.object_url(item), headers) for item in objects]
    declared = [sizes[key_of(item)] for item in objects]
    lifetime = lifetime_seconds(context, sum(declared))
    expires_at = datetime.now(UTC) + timedelta(seconds=lifetime)
    keys = [(staging_key(session_id, item), size) for item, size in zip(objects, declared, strict=True)]
    return [
        TransferUrl(put.url, tuple(put.headers.items()), expires_at)
        for put in context.presigner.put_urls(keys, lifetime)
    ]
