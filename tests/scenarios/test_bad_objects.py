"""Objects that are not what their blocks say: refused by name, and nothing changes.

Promise 3 of the design: nothing is believed that can be checked.
"""

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from app.transfer.examination import Examiner
from odf_core.identity import ARROW0_SHA3_256, SHA2_256, Multihash
from odf_core.metadata import DataSlice
from tests.builders.dataset_builder import (
    SLICE_SCHEMA,
    DatasetBuilder,
    describe,
    parquet,
    records,
)
from tests.scenarios.refusals import COMPLETE, INITIAL, OBJECTS, Attempt
from tests.scenarios.speakers import SPEAKERS, Speaker
from tests.scenarios.world import NodeWorld, node_world
from tests.scripted.http import request, transfer_headers, upload
from tests.services import Addresses

Lie = Callable[[], tuple[DataSlice, bytes]]


@pytest.fixture(scope="module")
def proxied_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    with node_world(services, s3_client, transfer={"mode": "proxied"}) as world:
        yield world


@pytest.fixture
def attempt(multi_world: NodeWorld, speaker: Speaker, unique: str, at: str, tmp_path: Path) -> Attempt:
    return attempt_of(multi_world, speaker, unique, at, tmp_path)


def attempt_of(world: NodeWorld, speaker: Speaker, unique: str, at: str, path: Path) -> Attempt:
    """One slice and no checkpoint, so that a refusal leaves nothing admitted."""
    good = DatasetBuilder(unique)
    good.chain.seed().polling_source().schema()
    return Attempt(world, world.person(), speaker, at, good.add(10, with_checkpoint=False), path)


def with_slice(attempt: Attempt, described: DataSlice, content: bytes) -> DatasetBuilder:
    """The good dataset, but for its slice."""
    bad = attempt.good.first(3)
    bad.chain.add_data(data_slice=described)
    bad.chain.objects.clear()
    bad.put(described, content)
    return bad


def too_few_records() -> tuple[DataSlice, bytes]:
    content = parquet(records(0, 9))
    return dataclasses.replace(describe(content, 0, 10)), content


def too_many_records() -> tuple[DataSlice, bytes]:
    content = parquet(records(0, 11))
    return describe(content, 0, 10), content


def other_offsets() -> tuple[DataSlice, bytes]:
    content = parquet(records(5, 10))
    return describe(content, 0, 10), content


def offsets_with_a_gap() -> tuple[DataSlice, bytes]:
    columns = records(0, 10)
    columns["offset"][5:] = range(6, 11)
    content = parquet(columns)
    return describe(content, 0, 10), content


def offsets_out_of_order() -> tuple[DataSlice, bytes]:
    columns = records(0, 10)
    columns["offset"][3:5] = [4, 3]
    content = parquet(columns)
    return describe(content, 0, 10), content


def a_missing_column() -> tuple[DataSlice, bytes]:
    columns = records(0, 10)
    del columns["population"]
    content = parquet(columns, SLICE_SCHEMA.remove(SLICE_SCHEMA.get_field_index("population")))
    return describe(content, 0, 10), content


def a_column_too_many() -> tuple[DataSlice, bytes]:
    content = parquet(
        records(0, 10) | {"extra": ["x"] * 10}, SLICE_SCHEMA.append(pa.field("extra", pa.utf8()))
    )
    return describe(content, 0, 10), content


def a_column_of_another_type() -> tuple[DataSlice, bytes]:
    place = SLICE_SCHEMA.get_field_index("city")
    schema = SLICE_SCHEMA.set(place, pa.field("city", pa.int64(), nullable=False))
    content = parquet(records(0, 10) | {"city": list(range(10))}, schema)
    return describe(content, 0, 10), content


def another_logical_hash() -> tuple[DataSlice, bytes]:
    content = parquet(records(0, 10))
    wrong = Multihash(ARROW0_SHA3_256, bytes(32))
    return dataclasses.replace(describe(content, 0, 10), logical_hash=wrong), content


def a_logical_hash_of_another_kind() -> tuple[DataSlice, bytes]:
    content = parquet(records(0, 10))
    wrong = Multihash.sha3_256(content)
    return dataclasses.replace(describe(content, 0, 10), logical_hash=wrong), content


def no_parquet() -> tuple[DataSlice, bytes]:
    content = b"offset,op,city\n0,0,here\n" * 20
    truth = describe(parquet(records(0, 10)), 0, 10)
    named = dataclasses.replace(truth, physical_hash=Multihash.sha3_256(content), size=len(content))
    return named, content


def a_cut_file() -> tuple[DataSlice, bytes]:
    whole = parquet(records(0, 10))
    content = whole[: len(whole) // 2] + whole[-8:]
    named = dataclasses.replace(
        describe(whole, 0, 10), physical_hash=Multihash.sha3_256(content), size=len(content)
    )
    return named, content


def an_empty_file() -> tuple[DataSlice, bytes]:
    truth = describe(parquet(records(0, 10)), 0, 10)
    return dataclasses.replace(truth, physical_hash=Multihash.sha3_256(b""), size=0), b""


LIES: dict[str, tuple[Lie, ...]] = {
    "slice_rows_mismatch": (too_few_records, too_many_records),
    "slice_offsets_mismatch": (other_offsets, offsets_with_a_gap, offsets_out_of_order),
    "slice_schema_mismatch": (a_missing_column, a_column_too_many, a_column_of_another_type),
    "logical_hash_mismatch": (another_logical_hash, a_logical_hash_of_another_kind),
    "slice_unreadable": (no_parquet, a_cut_file, an_empty_file),
}


@pytest.mark.parametrize(
    ("code", "lie"),
    [pytest.param(code, lie, id=lie.__name__) for code, lies in LIES.items() for lie in lies],
)
def test_a_block_that_lies_about_its_file(attempt: Attempt, code: str, lie: Lie) -> None:
    described, content = lie()
    bad = with_slice(attempt, described, content)
    push = attempt.push(bad).uploaded()
    with attempt.refused(code, COMPLETE) as told:
        push.complete()
    assert_names(attempt, told[0].body, str(described.physical_hash), bad.head)


def assert_names(attempt: Attempt, body: dict[str, Any], *hashes: str) -> None:
    """The published dialect has room for the objects; the 123 bytes of the other have their beginning."""
    if attempt.speaker.name == "published":
        named = body["extras"]["objects"]
        assert all(any(text in name for name in named) for text in hashes), body


def test_wrong_bytes_under_a_right_name(attempt: Attempt) -> None:
    push = attempt.push().prepare()
    (strategy,) = push.negotiate()
    assert strategy.url is not None
    right = push.content(strategy.item)
    assert upload(strategy.url, bytes(len(right))) == 200
    push.speaker.send_uploaded(push.ws)
    with attempt.refused("object_hash_mismatch", COMPLETE) as told:
        push.complete()
    assert_names(attempt, told[0].body, strategy.item[1])


@pytest.mark.parametrize("error", [-1, 1])
def test_a_wrong_size_declared(attempt: Attempt, error: int) -> None:
    """The upload is signed for the declared length, so the true file has no way in: it is missing then."""
    content = parquet(records(0, 10))
    true = describe(content, 0, 10)
    bad = with_slice(attempt, dataclasses.replace(true, size=true.size + error), content)
    push = attempt.push(bad).prepare()
    (strategy,) = push.negotiate()
    assert strategy.url is not None
    assert upload(strategy.url, content) == 403
    push.speaker.send_uploaded(push.ws)
    with attempt.refused("objects_missing", COMPLETE):
        push.complete()


def test_a_wrong_size_admitted(
    proxied_world: NodeWorld, speaker: Speaker, unique: str, at: str, tmp_path: Path
) -> None:
    """Proxied, the hash is checked at the upload; the size that the block declares, at admission."""
    attempt = attempt_of(proxied_world, speaker, unique, at, tmp_path)
    content = parquet(records(0, 10))
    bad = with_slice(attempt, dataclasses.replace(describe(content, 0, 10), size=len(content) + 1), content)
    push = attempt.push(bad).prepare()
    push.upload(push.negotiate())
    push.speaker.send_uploaded(push.ws)
    with attempt.refused("object_size_mismatch", COMPLETE):
        push.complete()


def test_a_missing_object(attempt: Attempt) -> None:
    push = attempt.push().prepare()
    push.negotiate()
    push.speaker.send_uploaded(push.ws)
    with attempt.refused("objects_missing", COMPLETE) as told:
        push.complete()
    assert_names(attempt, told[0].body, *(item[1] for _, _, facts in push.chain for item in facts.objects))


def test_an_object_that_no_block_declares(attempt: Attempt) -> None:
    push = attempt.push().prepare()
    stranger = ("DataSlice", str(Multihash.sha3_256(b"a stranger")), 10)
    with attempt.refused("objects_undeclared", OBJECTS):
        push.negotiate([stranger])


def test_a_slice_offered_as_a_checkpoint(attempt: Attempt) -> None:
    push = attempt.push().prepare()
    (item,) = [item for _, _, facts in push.chain for item in facts.objects]
    with attempt.refused("objects_undeclared", OBJECTS):
        push.negotiate([("Checkpoint", item[1], item[2])])


def test_an_object_named_by_another_hash_function(attempt: Attempt) -> None:
    """In the request, and in the block itself."""
    content = parquet(records(0, 10))
    import hashlib

    named = Multihash(SHA2_256, hashlib.sha256(content).digest())
    bad = with_slice(attempt, dataclasses.replace(describe(content, 0, 10), physical_hash=named), content)
    push = attempt.push(bad).connect().offer()
    with attempt.refused("unknown_hash_code", INITIAL):
        push.send_blocks()


@pytest.mark.parametrize("store", ["multi_world", "private_world"])
def test_poisoning_between_check_and_promotion(
    request: pytest.FixtureRequest,
    speaker: Speaker,
    unique: str,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: str,
) -> None:
    """The uploader still holds its URL and uses it after the bytes were hashed: what was checked is kept."""
    world: NodeWorld = request.getfixturevalue(store)
    attempt = attempt_of(world, speaker, unique, at, tmp_path)
    push = attempt.push().prepare()
    (strategy,) = push.negotiate()
    push.upload([strategy])
    right = push.content(strategy.item)
    poisoned: list[int] = []
    check = Examiner._check

    def check_slowly(self: Examiner, *arguments: Any) -> None:
        assert strategy.url is not None
        poisoned.append(upload(strategy.url, bytes(len(right))))
        check(self, *arguments)
        poisoned.append(upload(strategy.url, bytes(len(right))))

    monkeypatch.setattr(Examiner, "_check", check_slowly)
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert poisoned == [200, 200]
    stored = world.files(attempt.good.id.multibase)
    assert stored == attempt.good.files()
    # And later, when everything is over.
    world.settle()
    assert strategy.url is not None
    assert upload(strategy.url, bytes(len(right))) == 200
    assert world.files(attempt.good.id.multibase) == stored
    world.s3.delete_objects(
        Bucket=world.bucket.bucket, Delete={"Objects": [{"Key": key} for key in world.staged()]}
    )


def test_no_url_reaches_a_content_key(attempt: Attempt) -> None:
    """The signature is for the staging key alone; also the node's own routes take no foreign upload."""
    push = attempt.push().prepare()
    (strategy,) = push.negotiate()
    assert strategy.url is not None
    content, headers = push.content(strategy.item), transfer_headers(strategy.url)
    base, query = strategy.url["url"].split("?")
    assert "/staging/" in base
    target = f"{base.partition('/staging/')[0]}/{attempt.good.id.multibase}/data/{strategy.item[1]}"
    before = attempt.world.snapshot()
    assert request("PUT", f"{target}?{query}", headers, content)[0] == 403
    assert request("PUT", target, headers, content)[0] in (400, 401, 403)
    remote = attempt.person.remote(attempt.at)
    own = f"{remote.url}/data/{strategy.item[1]}"
    assert request("PUT", own, remote.headers() | {"Content-Length": str(len(content))}, content)[0] == 404
    assert attempt.world.snapshot() == before
    push.upload([strategy])
    push.speaker.send_uploaded(push.ws)
    push.complete()


def test_what_passed_stays_admitted(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Of two objects one is wrong: the dataset is unchanged, and the good one need not move again."""
    attempt = Attempt(multi_world, multi_world.person(), SPEAKERS[1], at, foo, tmp_path)
    push = attempt.push().prepare()
    checkpoint = next(item for item in push.negotiate() if item.item[0] == "Checkpoint")
    push.upload([checkpoint])
    assert attempt.person.remote(at).head() is None
    with pytest.raises(Exception, match="objects_missing"):
        push.complete()
    again = attempt.push().prepare()
    wanted = {strategy.item[0]: strategy.url is not None for strategy in again.negotiate()}
    assert wanted == {"DataSlice": True, "Checkpoint": False}
