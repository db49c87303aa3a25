"""What derivative datasets read, kept beside the chains: written in the transaction of each commit."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from sqlalchemy import delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.database import begin
from app.datasets.tables import Block, Dataset
from app.transform.tables import Derivation, DerivationInput
from odf_core.errors import InvalidInput
from odf_core.identity import DatasetId, Multihash
from odf_core.limits import Limits
from odf_core.metadata import SetTransform, StoredBlock, read_block

_AT_ONCE = 100


class TransformCycle(InvalidInput):
    """A transform that reads, by way of others, its own dataset."""

    code: ClassVar[str] = "transform_cycle"


async def note_blocks(
    conn: AsyncConnection, dataset_pk: int, blocks: Sequence[StoredBlock], *, replaces_chain: bool
) -> bool:
    """Take in what new blocks of a dataset say of its inputs; whether they say anything.

    Raises `TransformCycle`.
    """
    transforms = [block for block in blocks if isinstance(block.block.event, SetTransform)]
    if transforms:
        await _set_inputs(conn, dataset_pk, transforms[-1])
    elif replaces_chain:
        await conn.execute(delete(DerivationInput).where(DerivationInput.dataset_pk == dataset_pk))
        await conn.execute(
            update(Derivation).where(Derivation.dataset_pk == dataset_pk).values(transform_hash=None)
        )
    return bool(transforms)


async def _set_inputs(conn: AsyncConnection, dataset_pk: int, block: StoredBlock) -> None:
    event = block.block.event
    if not isinstance(event, SetTransform):
        raise TypeError("inputs are told by a SetTransform")
    values = {"transform_hash": block.hash.to_bytes()}
    made = insert(Derivation).values(dataset_pk=dataset_pk, **values)
    await conn.execute(made.on_conflict_do_update(index_elements=["dataset_pk"], set_=values))
    await conn.execute(delete(DerivationInput).where(DerivationInput.dataset_pk == dataset_pk))
    rows = [
        {
            "dataset_pk": dataset_pk,
            "position": number,
            "input_id": item.dataset_ref.multibase,
            "alias": item.alias,
        }
        for number, item in enumerate(event.inputs)
        if isinstance(item.dataset_ref, DatasetId)  # blocks of old tools may have names, which mean nothing
    ]
    if rows:
        await conn.execute(insert(DerivationInput), rows)
        await _refuse_cycle(conn, dataset_pk)


async def _refuse_cycle(conn: AsyncConnection, dataset_pk: int) -> None:
    own = select(Dataset.dataset_id).where(Dataset.id == dataset_pk).scalar_subquery()
    first = select(DerivationInput.input_id).where(DerivationInput.dataset_pk == dataset_pk)
    upstream = first.cte("upstream", recursive=True)
    further = (
        select(DerivationInput.input_id)
        .join(Dataset, Dataset.id == DerivationInput.dataset_pk)
        .join(upstream, upstream.c.input_id == Dataset.dataset_id)
    )
    upstream = upstream.union(further)
    found = await conn.execute(select(literal(1)).where(upstream.c.input_id == own).limit(1))
    if found.scalar_one_or_none() is not None:
        raise TransformCycle(
            "The transform reads its own dataset, itself or by way of its inputs; leave that input out."
        )


async def make_automatic(conn: AsyncConnection, dataset_id: DatasetId) -> int | None:
    """Bring the dataset up to date by itself from now on; its primary key, None where it has no inputs."""
    pk = select(Dataset.id).where(Dataset.dataset_id == dataset_id.multibase).scalar_subquery()
    changed = await conn.execute(
        update(Derivation)
        .where(Derivation.dataset_pk == pk)
        .values(is_automatic=True)
        .returning(Derivation.dataset_pk)
    )
    return changed.scalar_one_or_none()


async def mark_seen(
    conn: AsyncConnection, dataset_pk: int, heads: Iterable[tuple[DatasetId, Multihash]]
) -> None:
    """Remember up to which heads of its inputs a dataset is up to date."""
    for dataset_id, head in heads:
        await conn.execute(
            update(DerivationInput)
            .where(DerivationInput.dataset_pk == dataset_pk, DerivationInput.input_id == dataset_id.multibase)
            .values(seen_hash=head.to_bytes())
        )


async def note_forgotten(engine: AsyncEngine, limits: Limits) -> int:
    """Take in the inputs of datasets that were there before this table was; how many datasets."""
    missing = (
        select(Block.dataset_pk, func.max(Block.sequence_number).label("last"))
        .outerjoin(Derivation, Derivation.dataset_pk == Block.dataset_pk)
        .where(Block.event_kind == "SetTransform", Block.is_current, Derivation.dataset_pk.is_(None))
        .group_by(Block.dataset_pk)
        .limit(_AT_ONCE)
        .subquery()
    )
    wanted = select(Block.dataset_pk, Block.data).join(
        missing,
        (Block.dataset_pk == missing.c.dataset_pk) & (Block.sequence_number == missing.c.last),
    )
    async with begin(engine) as conn:
        rows = (await conn.execute(wanted.where(Block.is_current))).all()
        for row in rows:
            await _set_inputs(conn, row.dataset_pk, read_block(row.data, None, limits))
    return len(rows)
