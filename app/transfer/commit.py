"""The last step of a push: blocks into the index and the head moved, in one transaction.

Promise 2 of the house: objects first, then blocks, then the head by compare-and-swap. Whoever reads
sees the dataset before or after, never between; a process killed anywhere leaves one of the two.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import select, text, update
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.database import begin
from app.datasets.block_rows import block_values
from app.datasets.tables import Block, Dataset, Ref
from app.transform.triggers import after_commit
from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.metadata import StoredBlock
from odf_core.transfer.errors import HeadMoved, NameCollision, RefCollision
from odf_core.transfer.model import Visibility

_COLUMNS = (
    ("hash", "bytea"),
    ("sequence_number", "int8"),
    ("prev_hash", "bytea"),
    ("event_kind", "text"),
    ("system_time", "timestamptz"),
    ("size", "int4"),
    ("data", "bytea"),
    ("num_objects", "int4"),
    ("num_records", "int8"),
    ("object_bytes", "int8"),
)
_NAMES = ", ".join(name for name, _ in _COLUMNS)


@dataclass(frozen=True, slots=True)
class NewDataset:
    """What a first commit creates: the id and kind come from the Seed, the rest from the request."""

    dataset_id: DatasetId
    kind: str
    alias: DatasetAlias
    owner_id: UUID
    visibility: Visibility


async def commit_blocks(
    engine: AsyncEngine,
    *,
    dataset_pk: int | None,
    create: NewDataset | None,
    blocks: Sequence[StoredBlock],
    expected_head: Multihash | None,
    replaces_chain: bool,
    within: Callable[[AsyncConnection], Awaitable[None]] | None = None,
) -> int:
    """Add `blocks` (oldest first) and move the head from `expected_head` to the last one.

    `create` is given where there is no dataset yet, `dataset_pk` otherwise. `replaces_chain` (a forced
    push) makes the blocks the whole current chain; what it replaces stays readable by hash. `within` is
    called in the same transaction, with the head locked and moved. Returns the dataset's primary key.

    Datasets that are computed from this one get their jobs. Raises `HeadMoved`, `NameCollision`,
    `RefCollision`, `TransformCycle`, or what `within` raises; nothing is changed then.
    """
    async with begin(engine) as conn:
        pk = await _create(conn, create) if create is not None else dataset_pk
        if pk is None:
            raise RuntimeError("a commit needs a dataset, or what creates one")
        await _stage_blocks(conn, blocks)
        # The row lock comes after the copy, so that it is held for milliseconds.
        actual = await _locked_head(conn, pk)
        if actual != expected_head:
            raise HeadMoved(expected=expected_head, actual=actual)
        if replaces_chain:
            await conn.execute(
                update(Block).where(Block.dataset_pk == pk, Block.is_current).values(is_current=False)
            )
        await conn.execute(_INSERT_STAGED, {"pk": pk})
        await _move_head(conn, pk, blocks[-1])
        await after_commit(conn, pk, blocks, replaces_chain=replaces_chain)
        if within is not None:
            await within(conn)
    return pk


async def _create(conn: AsyncConnection, new: NewDataset) -> int:
    """Insert the dataset; whoever has the name or the id already makes this a collision."""
    statement = (
        pg_insert(Dataset)
        .values(
            dataset_id=new.dataset_id.multibase,
            owner_id=new.owner_id,
            name=str(new.alias.name),
            visibility=new.visibility.value.lower(),
            kind=new.kind,
        )
        .on_conflict_do_nothing()
        .returning(Dataset.id)
    )
    created = (await conn.execute(statement)).scalar_one_or_none()
    if created is not None:
        return created
    same_id = select(Dataset.id).where(Dataset.dataset_id == new.dataset_id.multibase)
    if (await conn.execute(same_id)).scalar_one_or_none() is not None:
        raise RefCollision(dataset_id=new.dataset_id)
    raise NameCollision(alias=new.alias)


async def _stage_blocks(conn: AsyncConnection, blocks: Sequence[StoredBlock]) -> None:
    """Binary COPY into a temporary table: five times faster than inserts (stack.md 5)."""
    definition = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS)
    await conn.execute(text(f"CREATE TEMP TABLE incoming_block ({definition}) ON COMMIT DROP"))
    raw = (await conn.get_raw_connection()).driver_connection
    if raw is None:
        raise RuntimeError("the connection has no driver connection")
    async with (
        raw.cursor() as cursor,
        cursor.copy(f"COPY incoming_block ({_NAMES}) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types([kind for _, kind in _COLUMNS])
        for stored in blocks:
            values = block_values(stored)
            await copy.write_row([values[name] for name, _ in _COLUMNS])


_INSERT_STAGED = text(
    f"INSERT INTO block (dataset_pk, is_current, {_NAMES}) SELECT :pk, true, {_NAMES} FROM incoming_block"  # noqa: S608
    " ON CONFLICT (dataset_pk, hash) DO UPDATE SET is_current = true"
)


async def _locked_head(conn: AsyncConnection, dataset_pk: int) -> Multihash | None:
    """The head under a lock: of the dataset's row, since a first push has no reference to lock."""
    await conn.execute(select(Dataset.id).where(Dataset.id == dataset_pk).with_for_update())
    found = await conn.execute(
        select(Ref.block_hash).where(Ref.dataset_pk == dataset_pk, Ref.name == "head").with_for_update()
    )
    stored = found.scalar_one_or_none()
    return None if stored is None else Multihash.from_bytes(stored)


async def _move_head(conn: AsyncConnection, dataset_pk: int, last: StoredBlock) -> None:
    values = {
        "block_hash": last.hash.to_bytes(),
        "sequence_number": last.block.sequence_number,
        "updated_at": datetime.now(UTC),
    }
    moved = pg_insert(Ref).values(dataset_pk=dataset_pk, name="head", **values)
    await conn.execute(moved.on_conflict_do_update(index_elements=["dataset_pk", "name"], set_=values))
    await conn.execute(
        update(Dataset).where(Dataset.id == dataset_pk).values(updated_at=values["updated_at"])
    )
