"""Reading the index of datasets. A dataset without a committed head does not exist for any reader."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.accounts.tables import Account
from app.context import NodeContext
from app.datasets.access import authorize
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.tables import Block, Dataset, Ref, StoredObject
from app.mirrors.tables import Mirror
from odf_core.identity import DatasetId, Multihash, ObjectKind

HEAD = "head"


def _datasets() -> Select[*tuple[Any, ...]]:
    """One row per dataset that has a head."""
    return (
        select(
            Dataset.id,
            Dataset.dataset_id,
            Dataset.owner_id,
            Account.name.label("owner_name"),
            Account.did.label("owner_did"),
            Dataset.name,
            Dataset.visibility,
            Dataset.kind,
            Ref.block_hash,
            Ref.sequence_number,
            Dataset.created_at,
            Dataset.updated_at,
            Mirror.source,
        )
        .join(Account, Account.id == Dataset.owner_id)
        .join(Ref, (Ref.dataset_pk == Dataset.id) & (Ref.name == HEAD))
        .outerjoin(Mirror, Mirror.dataset_pk == Dataset.id)
    )


# Every request of the Simple protocol asks two of these: made once, they cost half of what they would.
_BY_NAME = _datasets().where(
    func.lower(Account.name) == bindparam("account"), func.lower(Dataset.name) == bindparam("name")
)
_BY_ID = _datasets().where(Dataset.dataset_id == bindparam("dataset_id"))
_BY_PK = _datasets().where(Dataset.id == bindparam("pk"))
_BLOCK = select(Block.data).where(Block.dataset_pk == bindparam("pk"), Block.hash == bindparam("hash"))
_OBJECT = select(StoredObject.size).where(
    StoredObject.dataset_id == bindparam("dataset_id"),
    StoredObject.kind == bindparam("kind"),
    StoredObject.hash == bindparam("hash"),
)


def _info(row: Row[*tuple[Any, ...]]) -> DatasetInfo:
    return DatasetInfo(
        pk=row.id,
        id=DatasetId.parse(f"did:odf:{row.dataset_id}"),
        owner_id=row.owner_id,
        owner_name=row.owner_name,
        owner_did=row.owner_did,
        name=row.name,
        visibility=row.visibility,
        kind=row.kind,
        head=Multihash.from_bytes(row.block_hash),
        head_sequence_number=row.sequence_number,
        created_at=row.created_at,
        updated_at=row.updated_at,
        mirror_of=row.source,
    )


async def find_dataset(conn: AsyncConnection, address: DatasetAddress) -> DatasetInfo | None:
    """The dataset of this name, in any case of its letters."""
    names = {"account": address.account.folded, "name": address.name.folded}
    found = await conn.execute(_BY_NAME, names)
    row = found.one_or_none()
    return None if row is None else _info(row)


async def find_dataset_by_id(conn: AsyncConnection, dataset_id: DatasetId) -> DatasetInfo | None:
    """The dataset of this id."""
    found = await conn.execute(_BY_ID, {"dataset_id": dataset_id.multibase})
    row = found.one_or_none()
    return None if row is None else _info(row)


async def find_datasets_by_ids(conn: AsyncConnection, ids: Iterable[DatasetId]) -> list[DatasetInfo]:
    """Those of the datasets that are here, in no order."""
    rows = await conn.execute(_datasets().where(Dataset.dataset_id.in_([item.multibase for item in ids])))
    return [_info(row) for row in rows]


async def find_dataset_by_pk(conn: AsyncConnection, dataset_pk: int) -> DatasetInfo | None:
    """The dataset of this primary key."""
    row = (await conn.execute(_BY_PK, {"pk": dataset_pk})).one_or_none()
    return None if row is None else _info(row)


async def list_datasets(conn: AsyncConnection) -> list[DatasetInfo]:
    """All datasets, by owner and name."""
    rows = await conn.execute(_datasets().order_by(func.lower(Account.name), func.lower(Dataset.name)))
    return [_info(row) for row in rows]


async def open_dataset(
    conn: AsyncConnection, node: NodeContext, caller: Caller, address: DatasetAddress, action: Action
) -> DatasetInfo:
    """The addressed dataset for this caller, in the order of the deployed layers (wire.md 1.2).

    Raises `TokenRefused`, `AnonymousRestricted`, `DatasetNotFound`, `DatasetForbidden`. A refused
    token is told before the name is looked up, so that the answer says nothing about the name.
    """
    caller.require_reader(anonymous_read=node.settings.accounts.anonymous_read)
    return authorize(caller, await find_dataset(conn, address), action)


async def read_block(conn: AsyncConnection, dataset: DatasetInfo, block: Multihash) -> bytes | None:
    """The stored bytes of a block, as they came; also of one that a forced push replaced."""
    data: bytes | None = await conn.scalar(_BLOCK, {"pk": dataset.pk, "hash": block.to_bytes()})
    return data


async def object_size(
    conn: AsyncConnection, dataset: DatasetInfo, kind: ObjectKind, object_hash: Multihash
) -> int | None:
    """Size in bytes of an admitted object; None where the dataset has none of this hash."""
    wanted = {"dataset_id": dataset.id.multibase, "kind": kind.value, "hash": object_hash.to_bytes()}
    size: int | None = await conn.scalar(_OBJECT, wanted)
    return size
