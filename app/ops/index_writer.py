"""A scanned dataset into the index: the database half of a reindex."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo
from app.accounts.service import add_account, find_account
from app.accounts.tables import Account
from app.datasets.block_rows import block_values
from app.datasets.service import HEAD
from app.datasets.tables import Block, Dataset, Ref, StoredObject
from app.mirrors.tables import Mirror
from app.ops.dataset_scan import DatasetScan
from app.ops.findings import Finding, FindingKind, ReindexReport
from app.transform.inputs import note_blocks
from odf_core.errors import InvalidInput
from odf_core.identity import AccountName, DatasetAlias, DatasetName, Multihash
from odf_core.metadata import DatasetKind, StoredBlock

ROWS_AT_ONCE = 1000
KIND_NAMES = {DatasetKind.ROOT: "Root", DatasetKind.DERIVATIVE: "Derivative"}


class IndexWriter:
    """Writes scans in the transaction of `conn`, and what it found and did into `report`."""

    def __init__(self, conn: AsyncConnection, report: ReindexReport, default_account: AccountName) -> None:
        self._conn, self._report, self._default = conn, report, default_account

    async def write(self, scan: DatasetScan) -> None:
        """Make the index agree with the scan; a dataset whose name or owner is in doubt is left out."""
        self._report.findings.extend(scan.findings)
        alias = scan.info.alias
        if alias is None:
            alias = DatasetAlias(self._default, DatasetName(scan.id.multibase))
            self._find(scan, FindingKind.ALIAS_MISSING, f"The dataset has no name; it is now {alias}.", alias)
        pk = await self._dataset(scan, alias)
        if pk is None:
            return
        if await self._head_may_move(scan, pk):
            await self._blocks(scan, pk)
            await note_blocks(self._conn, pk, scan.chain, replaces_chain=True)
            await self._ref(scan, pk)
        await self._objects(scan)
        self._report.datasets += 1
        self._report.blocks += len(scan.chain)
        self._report.objects += len(scan.objects)

    def _find(self, scan: DatasetScan, kind: FindingKind, message: str, *objects: object) -> None:
        self._report.findings.append(Finding(kind, str(scan.id), message, tuple(map(str, objects))))

    async def _dataset(self, scan: DatasetScan, alias: DatasetAlias) -> int | None:
        """The locked row of the dataset, made if need be; None where its name or owner is in doubt."""
        present = await self._conn.execute(
            select(Dataset.id).where(Dataset.dataset_id == scan.id.multibase).with_for_update()
        )
        pk = present.scalar_one_or_none()
        if pk is not None:
            return pk
        owner = await self._owner(scan, alias.account or self._default)
        if owner is None:
            return None
        statement = (
            insert(Dataset)
            .values(
                dataset_id=scan.id.multibase,
                owner_id=owner,
                name=str(alias.name),
                visibility=scan.info.visibility,
                kind=KIND_NAMES[scan.seed.dataset_kind],
                created_at=scan.chain[0].block.system_time.to_datetime(),
                updated_at=scan.chain[-1].block.system_time.to_datetime(),
            )
            .on_conflict_do_nothing()
            .returning(Dataset.id)
        )
        made = (await self._conn.execute(statement)).scalar_one_or_none()
        if made is None:
            self._find(scan, FindingKind.NAME_TAKEN, f"Another dataset has the name {alias}.", alias)
        elif scan.info.mirror_of is not None:
            await self._conn.execute(insert(Mirror).values(dataset_pk=made, source=scan.info.mirror_of))
        return made

    async def _owner(self, scan: DatasetScan, name: AccountName) -> UUID | None:
        """By DID, since that is who it is; by name where the bucket knows no DID; else a new account."""
        did = scan.info.owner_did
        if did is not None:
            found = await self._conn.execute(select(Account.id).where(Account.did == did))
            if (known := found.scalar_one_or_none()) is not None:
                return known
        namesake = await find_account(self._conn, name)
        if namesake is not None and did in (None, namesake.did):
            return namesake.id
        made = None if namesake is not None else await self._new_account(name, did)
        if made is None:
            message = f"The owner {name} ({did}) cannot be made an account: the name is taken or not allowed."
            self._find(scan, FindingKind.OWNER_CONFLICT, message, name)
            return None
        self._report.accounts_created.append(made.name)
        return made.id

    async def _new_account(self, name: AccountName, did: str | None) -> AccountInfo | None:
        try:
            return await add_account(self._conn, name, did=did)
        except InvalidInput:  # a reserved name
            return None

    async def _head_may_move(self, scan: DatasetScan, pk: int) -> bool:
        """Whether the index has no head, the bucket's, or an earlier one of the same chain."""
        found = await self._conn.execute(
            select(Ref.block_hash).where(Ref.dataset_pk == pk, Ref.name == HEAD).with_for_update()
        )
        stored = found.scalar_one_or_none()
        if stored is None:
            return True
        head, bucket = Multihash.from_bytes(stored), scan.chain[-1].hash
        if any(block.hash == head for block in scan.chain):
            return True
        message = f"The index has the head {head}, the bucket {bucket}; the index stays as it is."
        self._find(scan, FindingKind.INDEX_DIFFERS, message, head, bucket)
        return False

    async def _blocks(self, scan: DatasetScan, pk: int) -> None:
        """All blocks; what is no longer on the chain stays readable by its hash."""
        await self._conn.execute(
            update(Block).where(Block.dataset_pk == pk, Block.is_current).values(is_current=False)
        )
        for part in _parts([*_rows(scan.chain, pk, True), *_rows(scan.strays, pk, False)]):
            statement = insert(Block)
            changed = {
                name: statement.excluded[name] for name in part[0] if name not in ("dataset_pk", "hash")
            }
            await self._conn.execute(
                statement.on_conflict_do_update(index_elements=["dataset_pk", "hash"], set_=changed), part
            )

    async def _ref(self, scan: DatasetScan, pk: int) -> None:
        head = scan.chain[-1]
        values = {
            "block_hash": head.hash.to_bytes(),
            "sequence_number": head.block.sequence_number,
            "mirrored_hash": head.hash.to_bytes(),
        }
        statement = insert(Ref).values(dataset_pk=pk, name=HEAD, **values)
        await self._conn.execute(
            statement.on_conflict_do_update(index_elements=["dataset_pk", "name"], set_=values)
        )

    async def _objects(self, scan: DatasetScan) -> None:
        rows = [
            {
                "dataset_id": scan.id.multibase,
                "kind": item.kind.value,
                "hash": item.hash.to_bytes(),
                "size": item.size,
            }
            for item in scan.objects
        ]
        for part in _parts(rows):
            await self._conn.execute(insert(StoredObject).on_conflict_do_nothing(), part)


def _rows(blocks: Sequence[StoredBlock], pk: int, is_current: bool) -> Iterator[dict[str, Any]]:
    return ({"dataset_pk": pk, "is_current": is_current, **block_values(block)} for block in blocks)


def _parts(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    return (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
