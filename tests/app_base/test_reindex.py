"""The index can be lost (promise 4): it is rebuilt from the bucket, and what is damaged is said."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.accounts.service import create_account, ensure_account, list_accounts
from app.accounts.tables import Account
from app.database import begin, connect, create_engine
from app.datasets.mirror import NODE_KEY, MirroredInfo, write_info
from app.datasets.service import find_dataset_by_id
from app.datasets.tables import Block, Dataset, Ref, StoredObject
from app.ops.findings import FindingKind, ReindexReport
from app.ops.reindex import ReindexProgress, reindex
from app.settings import DatabaseSettings
from odf_core.errors import Unavailable
from odf_core.identity import AccountId, DatasetAlias
from odf_core.storage import MemoryStore, StoreUnavailable
from tests.app_base.publishing import city
from tests.builders.chain_builder import ChainBuilder, chain

OWNER = str(AccountId.from_name_seed("alice"))


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    made = create_engine(DatabaseSettings.model_validate({"url": database_url}))
    yield made
    await made.dispose()


def bucket_with(*datasets: tuple[ChainBuilder, str | None]) -> MemoryStore:
    store = MemoryStore()
    for built, alias in datasets:
        folder = built.dataset_id.multibase
        for name, content in built.files().items():
            store.write(f"{folder}/{name}", content, size=len(content))
        if alias is not None:
            write_info(store, folder, MirroredInfo(DatasetAlias.parse(alias), "public", OWNER))
    return store


async def counts(engine: AsyncEngine) -> tuple[int, ...]:
    async with connect(engine) as conn:
        found = [
            (await conn.execute(select(func.count()).select_from(table))).scalar_one()
            for table in (Dataset, Ref, Block, StoredObject)
        ]
    return tuple(found)


def kinds(report: ReindexReport) -> list[FindingKind]:
    return [finding.kind for finding in report.findings]


async def test_everything_comes_back_and_twice_is_once(engine: AsyncEngine) -> None:
    first, second = city("one"), chain("two").seed().schema()
    store = bucket_with((first, "alice/one"), (second, "alice/Two"))
    store.write("staging/x", b"1", size=1)
    seen: list[ReindexProgress] = []
    report = await reindex(store, engine, progress=seen.append)
    assert (report.datasets, report.blocks, report.objects) == (2, 6, 3)
    assert report.findings == []
    assert report.accounts_created == ["alice"]
    assert [item.datasets for item in seen] == [1, 2]
    assert await counts(engine) == (2, 2, 6, 3)
    async with connect(engine) as conn:
        found = await find_dataset_by_id(conn, first.dataset_id)
        blocks = (await conn.execute(select(Block).order_by(Block.sequence_number))).mappings().all()
    assert found is not None
    assert (found.head, found.kind, found.visibility, found.owner_did) == (
        first.head,
        "Root",
        "public",
        OWNER,
    )
    assert {bytes(row["data"]) for row in blocks} == {block.data for block in (*first.blocks, *second.blocks)}
    last = next(row for row in blocks if bytes(row["data"]) == first.last.data)
    assert (last["num_objects"], last["num_records"], last["is_current"]) == (2, 5, True)

    again = await reindex(store, engine)
    assert (again.findings, again.accounts_created) == ([], [])
    assert await counts(engine) == (2, 2, 6, 3)


async def test_owners_are_found_by_their_did(engine: AsyncEngine) -> None:
    async with begin(engine) as conn:
        from app.accounts.service import add_account

        await add_account(conn, "renamed", did=OWNER)
    report = await reindex(bucket_with((city(), "alice/city")), engine)
    assert (report.findings, report.accounts_created) == ([], [])
    async with connect(engine) as conn:
        found = await find_dataset_by_id(conn, city().dataset_id)
    assert found is not None
    assert found.owner_name == "renamed"


async def test_a_namesake_with_another_did_does_not_inherit(engine: AsyncEngine) -> None:
    await create_account(engine, "alice")
    report = await reindex(bucket_with((city(), "alice/city")), engine)
    assert kinds(report) == [FindingKind.OWNER_CONFLICT]
    assert await counts(engine) == (0, 0, 0, 0)


async def test_a_dataset_without_name_gets_its_id_and_stays_private(engine: AsyncEngine) -> None:
    built = city()
    report = await reindex(bucket_with((built, None)), engine, default_account="keeper")
    assert kinds(report) == [FindingKind.ALIAS_MISSING]
    async with connect(engine) as conn:
        found = await find_dataset_by_id(conn, built.dataset_id)
    assert found is not None
    assert (found.owner_name, found.name, found.visibility) == (
        "keeper",
        built.dataset_id.multibase,
        "private",
    )


async def test_two_datasets_of_one_name(engine: AsyncEngine) -> None:
    report = await reindex(bucket_with((city("a"), "alice/x"), (city("b"), "alice/X")), engine)
    assert kinds(report) == [FindingKind.NAME_TAKEN]
    assert report.datasets == 1


def _first(built: ChainBuilder, folder: str) -> str:
    name = next(name for name in built.files() if name.startswith(folder))
    return f"{built.dataset_id.multibase}/{name}"


@pytest.mark.parametrize(
    ("folder", "content", "kind"),
    [
        ("blocks/", None, FindingKind.BLOCK_MISSING),
        ("blocks/", b"no block", FindingKind.BLOCK_DAMAGED),
        ("refs/", None, FindingKind.HEAD_MISSING),
        ("refs/", b"f1620\n", FindingKind.HEAD_DAMAGED),
        ("refs/", b"\xff", FindingKind.HEAD_DAMAGED),
        ("refs/", b"f" * 5000, FindingKind.HEAD_DAMAGED),
        ("refs/", b"f1620" + b"00" * 32, FindingKind.BLOCK_MISSING),
    ],
)
async def test_a_broken_chain_is_left_out_and_hides_no_other(
    engine: AsyncEngine, folder: str, content: bytes | None, kind: FindingKind
) -> None:
    broken, whole = city("broken"), city("whole")
    store = bucket_with((broken, "alice/broken"), (whole, "alice/whole"))
    before = {item.key for item in store.list("")}
    if content is None:
        store.delete([_first(broken, folder)])
    else:
        store.write(_first(broken, folder), content, size=len(content))
    after = {item.key for item in store.list("")}
    report = await reindex(store, engine)
    assert kinds(report) == [kind]
    assert report.findings[0].dataset_id == str(broken.dataset_id)
    assert report.datasets == 1
    assert {item.key for item in store.list("")} == after <= before, "nothing is ever deleted"


async def test_a_chain_that_breaks_a_rule_is_left_out(engine: AsyncEngine) -> None:
    built = chain("gap").seed().schema().add_data(5).add_data(5, sequence_number=9)
    report = await reindex(bucket_with((built, "alice/gap")), engine)
    assert kinds(report) == [FindingKind.CHAIN_INVALID]


async def test_a_dataset_in_the_folder_of_another_is_left_out(engine: AsyncEngine) -> None:
    built, other = city("one"), chain("two")
    store = MemoryStore()
    for name, content in built.files().items():
        store.write(f"{other.dataset_id.multibase}/{name}", content, size=len(content))
    assert kinds(await reindex(store, engine)) == [FindingKind.FOLDER_MISNAMED]


async def test_damaged_objects_are_said_and_not_served(engine: AsyncEngine) -> None:
    built = city()
    store = bucket_with((built, "alice/city"))
    missing, longer = _first(built, "data/"), _first(built, "checkpoints/")
    store.delete([missing])
    store.write(longer, b"much longer than it was declared to be", size=38)
    stray = f"{built.dataset_id.multibase}/data/f1620{'00' * 32}"
    store.write(stray, b"x", size=1)
    report = await reindex(store, engine)
    assert sorted(kinds(report)) == sorted(
        [FindingKind.OBJECT_MISSING, FindingKind.OBJECT_DAMAGED, FindingKind.STRAY_FILE]
    )
    assert (await counts(engine)) == (1, 1, 4, 1)


async def test_only_rehashing_sees_other_bytes_of_the_same_length(engine: AsyncEngine) -> None:
    built = city()
    store = bucket_with((built, "alice/city"))
    key = _first(built, "data/")
    size = len(store.read(key, max_bytes=10_000))
    store.write(key, b"x" * size, size=size)
    assert kinds(await reindex(store, engine)) == []
    async with begin(engine) as conn:
        await conn.execute(delete(StoredObject))
    assert kinds(await reindex(store, engine, rehash=True)) == [FindingKind.OBJECT_DAMAGED]
    assert (await counts(engine))[3] == 2


async def test_damage_beside_the_chain_does_not_matter(engine: AsyncEngine) -> None:
    built, old = city(), chain("test").seed().schema().add_data(7)
    store = bucket_with((old, None), (built, "alice/city"))
    stray = f"{built.dataset_id.multibase}/blocks/f1620{'11' * 32}"
    store.write(stray, b"junk", size=4)
    report = await reindex(store, engine)
    assert kinds(report) == [FindingKind.STRAY_BLOCK_DAMAGED]
    async with connect(engine) as conn:
        rows = (await conn.execute(select(Block.hash, Block.is_current))).all()
    strays = {bytes(row.hash) for row in rows if not row.is_current}
    assert strays == {old.last.hash.to_bytes()}


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"visibility":"all"}', b'{"visibility":"public","owner_did":3}']
)
async def test_unreadable_info(engine: AsyncEngine, content: bytes) -> None:
    built = city()
    store = bucket_with((built, "alice/city"))
    store.write(f"{built.dataset_id.multibase}/{NODE_KEY}", content, size=len(content))
    report = await reindex(store, engine)
    assert kinds(report) == [FindingKind.INFO_DAMAGED]
    async with connect(engine) as conn:
        found = await find_dataset_by_id(conn, built.dataset_id)
    assert found is not None
    assert (found.visibility, found.name) == ("private", "city")


async def test_an_unreadable_alias(engine: AsyncEngine) -> None:
    built = city()
    store = bucket_with((built, "alice/city"))
    store.write(f"{built.dataset_id.multibase}/info/alias", b"../x", size=4)
    assert kinds(await reindex(store, engine)) == [FindingKind.INFO_DAMAGED, FindingKind.ALIAS_MISSING]


async def test_the_head_moves_forward_only(engine: AsyncEngine) -> None:
    short = chain("test").seed().schema().add_data(10)
    long = short.fork().add_data(5)
    other = chain("test").seed().schema().add_data(99)
    assert (await reindex(bucket_with((short, "alice/x")), engine)).findings == []
    assert (await reindex(bucket_with((long, "alice/x")), engine)).findings == []
    async with connect(engine) as conn:
        found = await find_dataset_by_id(conn, long.dataset_id)
    assert found is not None
    assert found.head == long.head
    for behind in (short, other):
        report = await reindex(bucket_with((behind, "alice/x")), engine)
        assert kinds(report) == [FindingKind.INDEX_DIFFERS]
        async with connect(engine) as conn:
            kept = await find_dataset_by_id(conn, long.dataset_id)
        assert kept is not None
        assert kept.head == long.head


async def test_lost_rows_are_put_back(engine: AsyncEngine) -> None:
    store = bucket_with((city(), "alice/city"))
    await reindex(store, engine)
    async with begin(engine) as conn:
        await conn.execute(delete(StoredObject))
        await conn.execute(delete(Block).where(Block.sequence_number == 1))
        await conn.execute(update(Block).where(Block.sequence_number == 2).values(data=b"rot"))
    assert (await reindex(store, engine)).findings == []
    assert await counts(engine) == (1, 1, 4, 3)
    async with connect(engine) as conn:
        data = (await conn.execute(select(Block.data).where(Block.sequence_number == 2))).scalar_one()
    assert bytes(data) == city().blocks[2].data


async def test_a_store_that_is_away_ends_it_with_an_error(engine: AsyncEngine) -> None:
    class Away(MemoryStore):
        def read(self, key: str, *, max_bytes: int) -> bytes:
            raise StoreUnavailable("away")

    store = Away()
    whole: Any = bucket_with((city(), "alice/city"))
    for item in whole.list(""):
        store.write(item.key, whole.read(item.key, max_bytes=10_000), size=item.size)
    with pytest.raises(Unavailable):
        await reindex(store, engine)
    assert await counts(engine) == (0, 0, 0, 0)


async def test_accounts_come_back_without_tokens(engine: AsyncEngine) -> None:
    await reindex(bucket_with((city(), "alice/city")), engine)
    (account,) = await list_accounts(engine)
    assert (account.name, account.did) == ("alice", OWNER)
    assert (await ensure_account(engine, "alice")).id == account.id
    async with connect(engine) as conn:
        assert (await conn.execute(select(func.count()).select_from(Account))).scalar_one() == 1
