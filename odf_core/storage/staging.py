"""Uploads on their way into a dataset: one flat folder, promoted by the node after they were checked.

Nobody gets a URL that can overwrite a content key (promise 3 of the design). The folder never becomes
empty, since rclone removes empty ones while others upload into them (stack.md 2.4).
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from uuid import UUID

from odf_core.errors import InvalidInput
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.storage.errors import InvalidKey
from odf_core.storage.port import ObjectInfo, ObjectStore

STAGING_PREFIX = "staging/"
KEEP_KEY = f"{STAGING_PREFIX}.keep"
_SESSION = re.compile(r"[A-Za-z0-9-]{1,64}")
_SWEPT_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class StagedName:
    """What a staging key says."""

    session_id: str
    kind: ObjectKind
    hash: Multihash


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep has removed."""

    objects: int
    bytes: int
    stranded: int = 0


def session_prefix(session_id: UUID | str) -> str:
    """What all staging keys of a session begin with. Raises `InvalidKey`."""
    text = str(session_id)
    if not _SESSION.fullmatch(text):
        raise InvalidKey(f"{text[:100]!r} cannot be the id of a session.", objects=[repr(text[:100])])
    return f"{STAGING_PREFIX}{text}."


def staging_key(session_id: UUID | str, ref: ObjectRef) -> str:
    """`staging/<session>.<kind>.<hash>`: where a session's client uploads an object."""
    return f"{session_prefix(session_id)}{ref.kind}.{ref.hash}"


def read_staging_key(key: str) -> StagedName | None:
    """What `key` says, None if it is no staging key (a claim that was left over is none)."""
    parts = key.removeprefix(STAGING_PREFIX).split(".")
    if not key.startswith(STAGING_PREFIX) or len(parts) != 3 or not _SESSION.fullmatch(parts[0]):
        return None
    try:
        return StagedName(parts[0], ObjectKind(parts[1]), Multihash.parse(parts[2]))
    except (ValueError, InvalidInput):
        return None


def ensure_staging(store: ObjectStore) -> None:
    """Make the staging folder for good. Before the first URL goes out."""
    if store.stat(KEEP_KEY) is None:
        store.write(KEEP_KEY, b"", size=0)


def discard_session(store: ObjectStore, session_id: UUID | str) -> Swept:
    """Remove whatever a session has left in staging; its end or its abandonment, any number of times."""
    return _remove(store, store.list(session_prefix(session_id)))


def sweep(
    store: ObjectStore,
    older_than: timedelta,
    *,
    now: datetime | None = None,
    keep: Collection[str] = frozenset(),
) -> Swept:
    """Remove staged objects that nobody has written to for so long, and what killed writers left.

    `older_than` has to be beyond the longest life of a session; those in `keep` may be older. Times are
    the store's own, so its clock is taken to be right within minutes.
    """
    before = (now or datetime.now(UTC)) - older_than
    old = (
        found
        for found in store.list(STAGING_PREFIX)
        if found.modified is not None and found.modified < before and _session_of(found.key) not in keep
    )
    removed = _remove(store, old)
    return Swept(removed.objects, removed.bytes, store.remove_stranded(older_than))


def _session_of(key: str) -> str:
    return key.removeprefix(STAGING_PREFIX).partition(".")[0]


def _remove(store: ObjectStore, found: Iterator[ObjectInfo]) -> Swept:
    objects = size = 0
    while batch := list(islice(found, _SWEPT_AT_ONCE)):
        store.delete([item.key for item in batch])
        objects += len(batch)
        size += sum(item.size for item in batch)
    return Swept(objects, size)
