"""What the index (Postgres) knows of a chain: heads, intervals, the blocks that decide what may follow.

A pull's archive is made of these queries, never of reads from S3 (stack.md 5). Block bytes leave the
database as they came in.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Select, func, literal, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.ext.asyncio import AsyncConnection

from app.datasets.errors import BlockNotFound
from app.datasets.tables import Block, Ref, StoredObject
from odf_core.chain import KEY_EVENT_KINDS, InvalidInterval
from odf_core.identity import DatasetId, Multihash, ObjectKind
from odf_core.transfer.model import TransferPlan

DATA_EVENT_KINDS = ("AddData", "ExecuteTransform")
HASH_BYTES = 34  # sha3-256 as a binary multihash; block hashes have no other code
ROWS_PER_READ = 20_000  # one aggregated value stays far below Postgres' 1 GB


@dataclass(frozen=True, slots=True)
class Head:
    """The reference `head` of a dataset as one transaction saw it."""

    hash: Multihash
    sequence_number: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Blocks of the current chain by sequence number, both ends included; empty when first > last."""

    dataset_pk: int
    first: int
    last: int
    tail: Multihash | None
    head: Multihash

    @property
    def num_blocks(self) -> int:
        return max(0, self.last - self.first + 1)

    def first_blocks(self, count: int) -> "Interval":
        """The oldest `count` blocks of this interval."""
        return replace(self, last=self.first + count - 1)


async def read_head(conn: AsyncConnection, dataset_pk: int) -> Head | None:
    row = (
        await conn.execute(
            select(Ref.block_hash, Ref.sequence_number).where(
                Ref.dataset_pk == dataset_pk, Ref.name == "head"
            )
        )
    ).one_or_none()
    return None if row is None else Head(Multihash.from_bytes(row.block_hash), row.sequence_number)


async def find_interval(
    conn: AsyncConnection,
    dataset_pk: int,
    head: Head,
    *,
    begin_after: Multihash | None,
    stop_at: Multihash | None,
    force: bool,
) -> Interval:
    """The blocks after `begin_after` up to `stop_at` (wire.md 3.4, "Interval semantics").

    Raises `BlockNotFound` when `stop_at` is not on the current chain, and `InvalidInterval` when
    `begin_after` is not before it and `force` is off; with `force` the whole chain is the answer then.
    """
    last, last_hash = head.sequence_number, head.hash
    if stop_at is not None and stop_at != head.hash:
        found = await _current_position(conn, dataset_pk, stop_at)
        if found is None:
            raise BlockNotFound(f"Block {stop_at} is not on the current chain.", objects=[stop_at])
        last, last_hash = found, stop_at
    if begin_after is None:
        return Interval(dataset_pk, 0, last, None, last_hash)
    position = last if begin_after == last_hash else await _current_position(conn, dataset_pk, begin_after)
    if position is None or position > last:
        if not force:
            raise InvalidInterval(last_hash, begin_after)
        return Interval(dataset_pk, 0, last, None, last_hash)
    return Interval(dataset_pk, position + 1, last, begin_after, last_hash)


async def _current_position(conn: AsyncConnection, dataset_pk: int, block: Multihash) -> int | None:
    found = await conn.execute(
        select(Block.sequence_number).where(
            Block.dataset_pk == dataset_pk, Block.hash == block.to_bytes(), Block.is_current
        )
    )
    return found.scalar_one_or_none()


def _in_interval(interval: Interval) -> Select[int]:
    return select(Block.sequence_number).where(
        Block.dataset_pk == interval.dataset_pk,
        Block.is_current,
        Block.sequence_number.between(interval.first, interval.last),
    )


async def plan_of(conn: AsyncConnection, interval: Interval) -> TransferPlan:
    """The transfer plan of an interval, summed by the database (wire.md 3.2)."""
    row = (
        await conn.execute(
            _in_interval(interval).with_only_columns(
                func.count().label("blocks"),
                func.coalesce(func.sum(Block.size), 0).label("bytes"),
                func.coalesce(func.sum(Block.num_objects), 0).label("objects"),
                func.coalesce(func.sum(Block.num_records), 0).label("records"),
                func.coalesce(func.sum(Block.object_bytes), 0).label("object_bytes"),
            )
        )
    ).one()
    return TransferPlan(
        num_blocks=row.blocks,
        num_objects=int(row.objects),
        num_records=int(row.records),
        bytes_in_raw_blocks=int(row.bytes),
        bytes_in_raw_objects=int(row.object_bytes),
    )


async def read_blocks(
    conn: AsyncConnection, interval: Interval, *, max_raw_bytes: int
) -> list[tuple[Multihash, bytes]]:
    """Hash and stored bytes of the interval's blocks, oldest first.

    Stops before the block that would take the sum over `max_raw_bytes`, but gives one at least.
    """
    blocks: list[tuple[Multihash, bytes]] = []
    total = 0
    for start in range(interval.first, interval.last + 1, ROWS_PER_READ):
        part = replace(interval, first=start, last=min(start + ROWS_PER_READ - 1, interval.last))
        for block_hash, data in await _read_part(conn, part):
            total += len(data)
            if total > max_raw_bytes and blocks:
                return blocks
            blocks.append((block_hash, data))
    return blocks


async def _read_part(conn: AsyncConnection, part: Interval) -> list[tuple[Multihash, bytes]]:
    """One row for thousands of blocks: aggregated bytes and their lengths (stack.md 5)."""
    by_number = Block.sequence_number
    row = (
        await conn.execute(
            _in_interval(part).with_only_columns(
                func.string_agg(Block.hash, aggregate_order_by(literal(b""), by_number)),
                func.string_agg(Block.data, aggregate_order_by(literal(b""), by_number)),
                func.array_agg(aggregate_order_by(Block.size, by_number)),
            )
        )
    ).one()
    hashes, data, sizes = row
    blocks: list[tuple[Multihash, bytes]] = []
    position = 0
    for index, size in enumerate(sizes or ()):
        block_hash = Multihash.from_bytes(hashes[index * HASH_BYTES : (index + 1) * HASH_BYTES])
        blocks.append((block_hash, data[position : position + size]))
        position += size
    return blocks


async def read_key_blocks(conn: AsyncConnection, dataset_pk: int, head: Head) -> list[bytes]:
    """The sparse list of blocks from which `ChainState.resume` knows what may follow, oldest first."""
    current = select(Block.sequence_number, Block.data).where(
        Block.dataset_pk == dataset_pk, Block.is_current
    )
    statements = [
        current.where(Block.event_kind.in_(KEY_EVENT_KINDS)),
        current.where(Block.sequence_number == head.sequence_number),
        *(
            current.where(Block.event_kind == kind).order_by(Block.sequence_number.desc()).limit(1)
            for kind in DATA_EVENT_KINDS
        ),
    ]
    found: dict[int, bytes] = {}
    for statement in statements:
        found.update({row.sequence_number: row.data for row in await conn.execute(statement)})
    return [found[number] for number in sorted(found)]


async def known_objects(
    conn: AsyncConnection, dataset_id: DatasetId, hashes: Iterable[Multihash]
) -> dict[tuple[ObjectKind, Multihash], int]:
    """Size in bytes of those objects that the node has read and found good."""
    rows = await conn.execute(
        select(StoredObject.kind, StoredObject.hash, StoredObject.size).where(
            StoredObject.dataset_id == dataset_id.multibase,
            StoredObject.hash.in_([item.to_bytes() for item in hashes]),
        )
    )
    return {(ObjectKind(row.kind), Multihash.from_bytes(row.hash)): row.size for row in rows}
