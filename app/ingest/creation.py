"""New datasets of the node from a snapshot that a client sends (metadata.md 5)."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar
from uuid import UUID

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo, Caller
from app.context import NodeContext
from app.database import connect
from app.datasets.errors import DatasetNotFound
from app.datasets.model import DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset_by_id
from app.ingest.engine import PLANNING_ONLY
from app.mirrors.elsewhere import find_inputs_anywhere
from app.transfer.commit import NewDataset
from app.transfer.landing import land
from app.transform.inputs import make_automatic
from app.transform.pinning import pin_transforms
from app.transform.triggers import start_transform
from odf_core.chain.snapshots import snapshot_chain
from odf_core.errors import AccessDenied
from odf_core.identity import AccountName, DatasetAlias, DatasetId
from odf_core.ingest.fetch import FetchPolicy
from odf_core.ingest.snapshot_check import check_sources
from odf_core.ingest.source_policy import require_allowed
from odf_core.limits import Limits
from odf_core.metadata import InvalidSnapshot, PlacedSnapshot, StoredBlock, Timestamp, read_snapshots
from odf_core.metadata.snapshot import ResolveInput
from odf_core.transfer.model import Visibility


class ForeignOwner(AccessDenied):
    """A manifest that names another account than the caller's."""

    code: ClassVar[str] = "foreign_owner"


@dataclass(frozen=True, slots=True)
class Created:
    """A dataset that was made; `job_id` is the job that computes one that is derived from others."""

    dataset: DatasetInfo
    num_blocks: int
    job_id: UUID | None = None


async def create_from_snapshot(
    node: NodeContext, caller: Caller, text: bytes, visibility: Visibility, system_time: Timestamp
) -> Created:
    """Make the dataset of the one snapshot in `text`, YAML or JSON; it belongs to the caller.

    Raises `InvalidManifest` and its like, `InvalidSnapshot`, what `check_sources` and `pin_transforms`
    raise, `ForeignOwner`,
    `FetchNotAllowed` for what this node does not do for strangers, `NameCollision`; nothing is made then.
    """
    owner = caller.require_account()
    placed = await anyio.to_thread.run_sync(_read, text, node.settings.bounds)
    _require_policy(placed, FetchPolicy.node(node.settings.ingest.allow))
    address = _address(node, owner, placed)
    placed = await _pinned(node, caller, AccountName(owner.name), placed)
    inputs = await find_inputs_anywhere(node, caller, AccountName(owner.name), placed.snapshot.metadata)
    dataset_id, _ = DatasetId.generate()
    blocks = await anyio.to_thread.run_sync(_blocks, placed, dataset_id, system_time, inputs.get)
    kind = placed.snapshot.kind.text
    alias = DatasetAlias(address.account, address.name)
    started: list[UUID] = []

    async def derive(conn: AsyncConnection) -> None:
        """From now on the node computes it."""
        pk = await make_automatic(conn, dataset_id)
        if pk is not None:
            started.append(await start_transform(conn, pk, owner.id))

    await land(
        node,
        dataset=None,
        create=NewDataset(dataset_id, kind, alias, owner.id, visibility),
        dataset_id=dataset_id,
        blocks=blocks,
        expected_head=None,
        replaces_chain=False,
        within=derive,
    )
    async with connect(node.engine) as conn:
        made = await find_dataset_by_id(conn, dataset_id)
    if made is None:
        raise DatasetNotFound("The dataset was deleted as soon as it was made.", objects=[dataset_id])
    return Created(made, len(blocks), started[0] if started else None)


async def _pinned(
    node: NodeContext, caller: Caller, account: AccountName, placed: PlacedSnapshot
) -> PlacedSnapshot:
    """The snapshot with its transform pinned to an engine."""
    events = [
        (event, partial(placed.place.telling_of, ("content", "metadata", number)))
        for number, event in enumerate(placed.snapshot.metadata)
    ]
    pinned = tuple(await pin_transforms(node, caller, account, events))
    return replace(placed, snapshot=replace(placed.snapshot, metadata=pinned))


def _read(text: bytes, limits: Limits) -> PlacedSnapshot:
    placed = read_snapshots(text, "the manifest", limits)
    if len(placed) != 1:
        raise InvalidSnapshot(f"The body has {len(placed)} manifests; send them one by one.")
    return placed[0]


def _require_policy(placed: PlacedSnapshot, policy: FetchPolicy) -> None:
    """Tell early what a poll would refuse; addresses are looked up then only."""
    for event in placed.snapshot.metadata:
        require_allowed(event, policy)


def _address(node: NodeContext, owner: AccountInfo, placed: PlacedSnapshot) -> DatasetAddress:
    name = placed.snapshot.name
    own = AccountName(owner.name)
    if node.settings.tenancy == "single":
        own = AccountName(node.settings.accounts.default_account)
    if name.account is not None and name.account.folded != own.folded:
        raise ForeignOwner(f"The manifest names the account {name.account}, but the caller is {own}.")
    return DatasetAddress(own, name.name)


def _blocks(
    placed: PlacedSnapshot, dataset_id: DatasetId, system_time: Timestamp, resolve: ResolveInput
) -> list[StoredBlock]:
    blocks = snapshot_chain(placed, dataset_id, system_time, resolve)
    check_sources(placed, PLANNING_ONLY)
    return blocks
