"""What a dataset is computed from and what is computed from it, as far as a caller may read it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.datasets.access import authorize
from app.datasets.errors import DatasetNotFound
from app.datasets.model import Action, DatasetInfo
from app.datasets.service import find_datasets_by_ids
from app.datasets.tables import Dataset
from app.transform.tables import DerivationInput
from odf_core.errors import LimitExceeded
from odf_core.identity import DatasetId

MOST_DATASETS = 2000
_DID = "did:odf:"


class LineageTooLarge(LimitExceeded):
    """More datasets depend on each other than one answer tells."""

    code: ClassVar[str] = "lineage_too_large"


@dataclass(frozen=True, slots=True)
class Edge:
    """`reader` is computed from `read`, which its query calls `alias`."""

    read: DatasetId
    reader: DatasetId
    alias: str | None


@dataclass(slots=True)
class Lineage:
    """A graph around `root`. Datasets that are not on the node, and those that the caller may not read, are
    None: only that somebody names them is known."""

    root: DatasetInfo
    datasets: dict[DatasetId, DatasetInfo | None] = field(default_factory=dict)
    edges: dict[Edge, None] = field(default_factory=dict)


async def lineage_of(conn: AsyncConnection, caller: Caller, root: DatasetInfo) -> Lineage:
    """The lineage of a dataset that the caller may read, up and down.

    Of what is downstream, other inputs are named too, but not what is upstream of them. What the caller may
    not read ends the way up, and is not told of on the way down. Raises `LineageTooLarge`.
    """
    found = Lineage(root, {root.id: root})
    await _up(conn, caller, found)
    await _down(conn, caller, found)
    return found


async def _up(conn: AsyncConnection, caller: Caller, found: Lineage) -> None:
    layer = [found.root]
    while layer:
        new = await _take(conn, found, await _inputs_of(conn, layer), caller)
        layer = [item for item in new if item is not None]


async def _down(conn: AsyncConnection, caller: Caller, found: Lineage) -> None:
    layer, passed = [found.root], {found.root.id}
    while layer:
        known = await _known(conn, caller, await _readers_of(conn, layer))
        layer = [item for key, item in known.items() if item is not None and key not in passed]
        passed |= {item.id for item in layer}
        for item in layer:
            found.datasets[item.id] = item
        await _take(conn, found, await _inputs_of(conn, layer), caller)


async def _take(
    conn: AsyncConnection, found: Lineage, edges: list[Edge], caller: Caller
) -> list[DatasetInfo | None]:
    """Take in the edges and what they read; the datasets that are new."""
    new = await _known(conn, caller, {edge.read for edge in edges} - set(found.datasets))
    found.datasets.update(new)
    found.edges.update(dict.fromkeys(edges))
    if len(found.datasets) > MOST_DATASETS:
        raise LineageTooLarge(
            f"More than {MOST_DATASETS} datasets depend on each other here; ask for the lineage of one that "
            "is further down.",
            objects=[found.root.id],
        )
    return list(new.values())


async def _known(
    conn: AsyncConnection, caller: Caller, ids: Iterable[DatasetId]
) -> dict[DatasetId, DatasetInfo | None]:
    """The datasets of the ids, None for one that is not here or that the caller may not read."""
    wanted = sorted(set(ids), key=str)
    known: dict[DatasetId, DatasetInfo | None] = dict.fromkeys(wanted)
    for item in await find_datasets_by_ids(conn, wanted):
        try:
            known[item.id] = authorize(caller, item, Action.READ)
        except DatasetNotFound:
            known[item.id] = None
    return known


async def _inputs_of(conn: AsyncConnection, datasets: Iterable[DatasetInfo]) -> list[Edge]:
    readers = {item.pk: item.id for item in datasets}
    rows = await conn.execute(
        select(DerivationInput.dataset_pk, DerivationInput.input_id, DerivationInput.alias)
        .where(DerivationInput.dataset_pk.in_(readers))
        .order_by(DerivationInput.dataset_pk, DerivationInput.position)
    )
    return [Edge(_id(row.input_id), readers[row.dataset_pk], row.alias) for row in rows]


async def _readers_of(conn: AsyncConnection, datasets: Iterable[DatasetInfo]) -> list[DatasetId]:
    rows = await conn.execute(
        select(Dataset.dataset_id)
        .join(DerivationInput, DerivationInput.dataset_pk == Dataset.id)
        .where(DerivationInput.input_id.in_([item.id.multibase for item in datasets]))
        .distinct()
        .order_by(Dataset.dataset_id)
    )
    return [_id(row.dataset_id) for row in rows]


def _id(multibase: str) -> DatasetId:
    return DatasetId.parse(_DID + multibase)
