"""The datasets that transforms of clients read, by the references in their events."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.datasets.access import authorize
from app.datasets.errors import DatasetNotFound
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset, find_dataset_by_id
from odf_core.identity import AccountName, DatasetAlias, DatasetId
from odf_core.metadata import MetadataEvent, SetTransform

Reference: TypeAlias = DatasetId | DatasetAlias


async def find_inputs(
    conn: AsyncConnection, caller: Caller, account: AccountName, events: Iterable[MetadataEvent]
) -> Mapping[Reference, DatasetId | None]:
    """The ids of the datasets that the events name and the caller may read, None for others; names without
    an account are of `account`. Raises `DatabaseUnavailable`."""
    found: dict[Reference, DatasetId | None] = {}
    for event in events:
        for item in event.inputs if isinstance(event, SetTransform) else ():
            ref = item.dataset_ref
            try:
                found[ref] = authorize(caller, await _find(conn, account, ref), Action.READ).id
            except DatasetNotFound:
                found[ref] = None
    return found


async def _find(conn: AsyncConnection, account: AccountName, ref: Reference) -> DatasetInfo | None:
    if isinstance(ref, DatasetId):
        return await find_dataset_by_id(conn, ref)
    return await find_dataset(conn, DatasetAddress(ref.account or account, ref.name))
