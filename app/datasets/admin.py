"""What an operator does with datasets; the commands of `odf admin` call this."""

from typing import Literal

from anyio import to_thread
from sqlalchemy import delete, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.errors import DatasetNotFound
from app.datasets.mirror import folder_of, mirror_dataset_info
from app.datasets.model import DatasetAddress, DatasetInfo
from app.datasets.service import HEAD, find_dataset, list_datasets
from app.datasets.tables import Dataset, Ref, StoredObject
from odf_core.identity import AccountName, DatasetAlias
from odf_core.storage import HEAD_KEY, ObjectStore

DELETED_AT_ONCE = 1000


def address_of(node: NodeContext, alias: DatasetAlias) -> DatasetAddress:
    """The address of an alias; one without account belongs to the default account."""
    return DatasetAddress(alias.account or AccountName(node.settings.accounts.default_account), alias.name)


async def list_all_datasets(node: NodeContext) -> list[DatasetInfo]:
    """All datasets, by owner and name."""
    async with connect(node.engine) as conn:
        return await list_datasets(conn)


async def set_visibility(
    node: NodeContext, alias: DatasetAlias, visibility: Literal["private", "public"]
) -> DatasetInfo:
    """Make a dataset private or public, in the index and in the bucket.

    Raises `DatasetNotFound`, `DatabaseUnavailable`, `StoreUnavailable`; nothing is changed then.
    """
    async with begin(node.engine) as conn:
        dataset = await _existing(conn, node, alias)
        await conn.execute(update(Dataset).where(Dataset.id == dataset.pk).values(visibility=visibility))
        await mirror_dataset_info(node.store, conn, dataset.pk)
        return await _existing(conn, node, alias)


async def delete_dataset(node: NodeContext, alias: DatasetAlias) -> DatasetInfo:
    """Remove a dataset: the bucket's head first, so that no reindex brings it back, then index and files.

    Interrupted, it leaves a whole dataset or none for readers; repeat it to remove the rest. A push of the
    same dataset must not run at the same time, since its new files would go with the old. Raises
    `DatasetNotFound`, `DatabaseUnavailable`, `StoreUnavailable`.
    """
    async with begin(node.engine) as conn:
        dataset = await _existing(conn, node, alias)
        # Should the next step be all that happens, the bucket's head is written again at the next start.
        await conn.execute(
            update(Ref).where(Ref.dataset_pk == dataset.pk, Ref.name == HEAD).values(mirrored_hash=None)
        )
    folder = folder_of(dataset.id)
    await to_thread.run_sync(node.store.delete, [folder + HEAD_KEY])
    async with begin(node.engine) as conn:
        await conn.execute(delete(StoredObject).where(StoredObject.dataset_id == dataset.id.multibase))
        await conn.execute(delete(Dataset).where(Dataset.id == dataset.pk))
    await to_thread.run_sync(_delete_folder, node.store, folder)
    return dataset


def _delete_folder(store: ObjectStore, folder: str) -> None:
    keys = [item.key for item in store.list(folder)]
    for start in range(0, len(keys), DELETED_AT_ONCE):
        store.delete(keys[start : start + DELETED_AT_ONCE])


async def _existing(conn: AsyncConnection, node: NodeContext, alias: DatasetAlias) -> DatasetInfo:
    dataset = await find_dataset(conn, address_of(node, alias))
    if dataset is None:
        raise DatasetNotFound(f"There is no dataset {alias}.", objects=[alias])
    return dataset
