"""What the bucket says of a dataset beside its objects, so that the index can be lost (promise 4).

Below a dataset's folder: `refs/head` and `info/alias` as the specification has them (metadata.md 3),
and `info/node.json` of this node: `{"visibility", "owner_did"}`,
and `"mirror_of"` where it follows a dataset of another node.

All of it follows the index: it is written after a commit, from what was committed, so that a push
that lost a race leaves no trace in the dataset of another.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import orjson
from anyio import to_thread
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.tables import Account
from app.datasets.tables import Dataset
from app.mirrors.tables import Mirror
from odf_core.errors import IntegrityError, InvalidInput, NotFound
from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.storage import ALIAS_KEY, HEAD_KEY, ObjectStore

NODE_KEY = "info/node.json"
INFO_BYTES = 4096
"""Largest of these files that is read."""


class DatasetInfoDamaged(IntegrityError):
    """`info/alias` or `info/node.json` of a dataset cannot be read."""

    code: ClassVar[str] = "dataset_info_damaged"


@dataclass(frozen=True, slots=True)
class MirroredInfo:
    """Who owns the dataset, under which name, and who may see it; None where the bucket does not say."""

    alias: DatasetAlias | None
    visibility: str
    owner_did: str | None
    mirror_of: str | None = None


def folder_of(dataset_id: DatasetId | str) -> str:
    """`fed01…/`, from an id or its multibase form."""
    return f"{dataset_id if isinstance(dataset_id, str) else dataset_id.multibase}/"


def mirror_head(store: ObjectStore, dataset_id: DatasetId | str, head: Multihash) -> None:
    """Write `refs/head`: the hash as text, no newline. Raises `StoreUnavailable`."""
    text = str(head).encode()
    store.write(folder_of(dataset_id) + HEAD_KEY, text, size=len(text))


def write_info(store: ObjectStore, dataset_id: DatasetId | str, info: MirroredInfo) -> None:
    """Write `info/alias` and `info/node.json`. Raises `StoreUnavailable`."""
    facts = {"visibility": info.visibility, "owner_did": info.owner_did}
    node = orjson.dumps(facts if info.mirror_of is None else {**facts, "mirror_of": info.mirror_of})
    alias = str(info.alias).encode()
    store.write(folder_of(dataset_id) + NODE_KEY, node, size=len(node))
    store.write(folder_of(dataset_id) + ALIAS_KEY, alias, size=len(alias))


async def mirror_dataset_info(store: ObjectStore, conn: AsyncConnection, dataset_pk: int) -> None:
    """Write alias, visibility and owner of a dataset as the index has them; nothing for one that is gone.

    On the caller's connection, since whoever holds one must not wait for another. Raises
    `StoreUnavailable`.
    """
    found = await conn.execute(
        select(
            Dataset.dataset_id,
            Dataset.name,
            Dataset.visibility,
            Account.name.label("owner"),
            Account.did,
            Mirror.source,
        )
        .join(Account, Account.id == Dataset.owner_id)
        .outerjoin(Mirror, Mirror.dataset_pk == Dataset.id)
        .where(Dataset.id == dataset_pk)
    )
    row = found.one_or_none()
    if row is not None:
        alias = DatasetAlias.parse(f"{row.owner}/{row.name}")
        info = MirroredInfo(alias, row.visibility, row.did, row.source)
        await to_thread.run_sync(write_info, store, row.dataset_id, info)


def read_alias(store: ObjectStore, dataset_id: DatasetId | str) -> DatasetAlias | None:
    """The name in `info/alias`; None where there is none. Raises `DatasetInfoDamaged`, `StoreUnavailable`."""
    key = folder_of(dataset_id) + ALIAS_KEY
    data = _read(store, key)
    if data is None:
        return None
    try:
        return DatasetAlias.parse(data.decode("utf-8").strip())
    except (UnicodeDecodeError, InvalidInput) as error:
        raise DatasetInfoDamaged(f"{key} holds no alias.", objects=[key]) from error


def read_node_facts(store: ObjectStore, dataset_id: DatasetId | str) -> tuple[str, str | None, str | None]:
    """Visibility, the owner's DID and the source of a mirror in `info/node.json`; without that file the
    dataset is private.

    Raises `DatasetInfoDamaged`, `StoreUnavailable`.
    """
    key = folder_of(dataset_id) + NODE_KEY
    data = _read(store, key)
    if data is None:
        return "private", None, None
    damaged = DatasetInfoDamaged(f'{key} is not {{"visibility", "owner_did"}}.', objects=[key])
    try:
        facts: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise damaged from error
    if not isinstance(facts, dict):
        raise damaged
    visibility, owner_did, source = (facts.get(name) for name in ("visibility", "owner_did", "mirror_of"))
    if visibility not in ("private", "public") or not isinstance(owner_did, str | None):
        raise damaged
    if not isinstance(source, str | None):
        raise damaged
    return visibility, owner_did, source


def _read(store: ObjectStore, key: str) -> bytes | None:
    try:
        return store.read(key, max_bytes=INFO_BYTES)
    except NotFound:
        return None
