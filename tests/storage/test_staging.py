"""Staging: names, claims, sweeping."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.storage import (
    STAGING_PREFIX,
    InvalidKey,
    ObjectNotFound,
    ObjectStore,
    Swept,
    discard_session,
    ensure_staging,
    object_key,
    read_staging_key,
    staging_key,
    sweep,
)
from odf_core.storage.staging import KEEP_KEY, StagedName

SESSION = UUID("0190a0a0-0000-7000-8000-000000000001")
OTHER = UUID("0190a0a0-0000-7000-8000-000000000002")


def ref_of(data: bytes, kind: ObjectKind = ObjectKind.DATA_SLICE) -> ObjectRef:
    return ObjectRef(kind, Multihash.sha3_256(data), len(data))


def stage(store: ObjectStore, data: bytes, session: UUID = SESSION) -> ObjectRef:
    ref = ref_of(data)
    store.write(staging_key(session, ref), data, size=len(data))
    return ref


@pytest.mark.parametrize("kind", ObjectKind)
def test_a_key_names_session_kind_and_hash(kind: ObjectKind) -> None:
    ref = ref_of(b"x", kind)
    key = staging_key(SESSION, ref)
    assert key.startswith(STAGING_PREFIX)
    assert "/" not in key.removeprefix(STAGING_PREFIX)  # flat: see stack.md 2.4
    assert len(key.encode()) < 200
    assert read_staging_key(key) == StagedName(str(SESSION), kind, ref.hash)


@pytest.mark.parametrize(
    "key",
    [
        "", "staging/", "staging/.keep", "staging/a.b.c", "other/s.DataSlice.f1620" + "0" * 64,
        "staging/s.DataSlice.f16200", "staging/s.Unknown.f1620" + "0" * 64,
        "staging/claimed-0123456789abcdef", "staging/a/b.DataSlice.f1620" + "0" * 64,
    ],
)  # fmt: skip
def test_other_keys_are_none(key: str) -> None:
    assert read_staging_key(key) is None


@pytest.mark.parametrize("session", ["", "a/b", "a.b", "..", "x" * 65, "a b"])
def test_an_id_that_would_change_the_key(session: str) -> None:
    with pytest.raises(InvalidKey):
        staging_key(session, ref_of(b""))


def test_the_folder_is_made_once(store: ObjectStore) -> None:
    ensure_staging(store)
    ensure_staging(store)
    assert store.stat(KEEP_KEY) is not None
    assert list(store.list("")) == []


def test_what_is_claimed_can_be_read_and_published(store: ObjectStore) -> None:
    ref = stage(store, b"a slice")
    staged, key = staging_key(SESSION, ref), "set/" + object_key(ref)
    for _ in range(2):  # a repeated push
        with store.claim(staged) as claimed:
            store.write(staged, b"a SLICE", size=7)
            assert claimed.size == 7
            with claimed.open(start=2, end=4) as stream:
                assert stream.read(-1) == b"sl"
            claimed.publish(key, settle=False)
        store.settle([key])
        assert store.read(key, max_bytes=10) == b"a slice"
        store.write(staged, b"a slice", size=7)
    assert [found.key for found in store.list("")] == [key, staged]


def test_a_claim_that_is_let_go_leaves_nothing(store: ObjectStore) -> None:
    ref = stage(store, b"a slice")
    with pytest.raises(ZeroDivisionError), store.claim(staging_key(SESSION, ref)):
        raise ZeroDivisionError
    with pytest.raises(ObjectNotFound), store.claim(staging_key(OTHER, ref)):
        raise AssertionError
    assert [found.key for found in store.list("")] == [staging_key(SESSION, ref)]


def test_a_session_is_discarded_without_touching_others(store: ObjectStore) -> None:
    ensure_staging(store)
    for data in (b"1", b"22", b"333"):
        stage(store, data)
    kept = stage(store, b"4444", OTHER)
    assert discard_session(store, SESSION) == Swept(3, 6)
    assert discard_session(store, SESSION) == Swept(0, 0)
    assert [found.key for found in store.list(STAGING_PREFIX)] == [staging_key(OTHER, kept)]
    assert store.stat(KEEP_KEY) is not None


def test_old_uploads_are_swept(store: ObjectStore) -> None:
    ensure_staging(store)
    ref = stage(store, b"old")
    stage(store, b"older", OTHER)
    store.write("set/" + object_key(ref), b"old", size=3)
    assert sweep(store, timedelta(hours=1)) == Swept(0, 0)
    later = datetime.now(UTC) + timedelta(hours=2)
    assert sweep(store, timedelta(hours=1), now=later) == Swept(2, 8)
    assert [found.key for found in store.list("")] == ["set/" + object_key(ref)]
    assert store.stat(KEEP_KEY) is not None
