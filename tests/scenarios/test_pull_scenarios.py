"""The pull scenarios of wire.md 8, by our client and the scripted one, in both dialects and tenancies.

After each success both sides hold the same blocks, checkpoints, data and refs, byte for byte.
"""

from pathlib import Path

import pytest

from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, seed_only
from tests.scenarios.drivers import Driver, Refusal
from tests.scenarios.world import Person, assert_identical, folder_of, on_chain, served
from tests.scripted.deployed import VERSION
from tests.scripted.folder import Folder
from tests.scripted.http import request
from tests.scripted.websocket import HandshakeRefused, RawWebSocket


def test_new_dataset(person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    served(person, foo, tmp_path, at)
    local = tmp_path / "client"
    outcome = driver.pull(person.remote(at), local, foo.id)
    assert (outcome.updated, outcome.old_head, outcome.new_head) == (True, None, foo.head)
    assert outcome.num_blocks == 4
    assert_identical(person, foo.id, local)
    assert Folder(local).files() == foo.files()


def test_new_empty_dataset(person: Person, driver: Driver, unique: str, at: str, tmp_path: Path) -> None:
    empty = seed_only(unique)
    served(person, empty, tmp_path, at)
    local = tmp_path / "client"
    outcome = driver.pull(person.remote(at), local, empty.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (None, empty.head, 1)
    assert_identical(person, empty.id, local)


def test_new_derivative_dataset(person: Person, driver: Driver, unique: str, at: str, tmp_path: Path) -> None:
    derived = derivative_dataset(unique, "input")
    served(person, derived, tmp_path, at)
    local = tmp_path / "client"
    assert driver.pull(person.remote(at), local, derived.id).num_blocks == 4
    assert_identical(person, derived.id, local)


def test_existing_up_to_date_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    local = foo.write(tmp_path / "client")
    outcome = driver.pull(person.remote(at), local, foo.id)
    assert (outcome.updated, outcome.new_head) == (False, foo.head)
    assert_identical(person, foo.id, local)


def test_existing_evolved_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    local, old_head = foo.write(tmp_path / "client"), foo.head
    served(person, foo.info("more is coming").add(7), tmp_path, at)
    outcome = driver.pull(person.remote(at), local, foo.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (old_head, foo.head, 2)
    assert_identical(person, foo.id, local)


def test_existing_diverged_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Compaction on the server: refused without force; with it the client is as the server."""
    foo.add(5)
    served(person, foo, tmp_path, at)
    local, old_head = foo.write(tmp_path / "client"), foo.head
    compacted = foo.compacted()
    served(person, compacted, tmp_path, at, force=True)
    with pytest.raises(Refusal, match="diverged"):
        driver.pull(person.remote(at), local, foo.id)
    assert Folder(local).head() == old_head
    if not driver.has_force:
        return
    outcome = driver.pull(person.remote(at), local, foo.id, force=True)
    assert (outcome.old_head, outcome.new_head) == (old_head, compacted.head)
    stored = on_chain(person.world.files(foo.id.multibase), tmp_path / "stored")
    assert on_chain(Folder(local).files(), tmp_path / "mine") == stored == compacted.files()


def test_existing_advanced_dataset_fails(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    local = foo.info("only here").write(tmp_path / "client")
    before = Folder(local).files()
    with pytest.raises(Refusal, match="diverged"):
        driver.pull(person.remote(at), local, foo.id)
    assert Folder(local).files() == before


def test_aborted_read_of_new_reread_succeeds(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The client has the data files and a registered dataset without a head."""
    served(person, foo, tmp_path, at)
    local = folder_of(foo, tmp_path / "client")
    (local.root / "refs" / "head").unlink()
    outcome = driver.pull(person.remote(at), local.root, foo.id)
    assert (outcome.old_head, outcome.new_head) == (None, foo.head)
    assert_identical(person, foo.id, local.root)


def test_aborted_read_of_existing_evolved_dataset_reread_succeeds(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The client is behind but holds the new data files already."""
    local, old_head = folder_of(foo, tmp_path / "client"), foo.head
    served(person, foo.info("more is coming").add(7), tmp_path, at)
    foo.write(local.root)
    local.set_head(old_head)
    outcome = driver.pull(person.remote(at), local.root, foo.id)
    assert (outcome.old_head, outcome.new_head) == (old_head, foo.head)
    assert_identical(person, foo.id, local.root)


def test_unauthenticated_pull_of_a_public_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at, visibility="Public")
    local = tmp_path / "client"
    assert driver.pull(person.anonymous().remote(at), local, foo.id).new_head == foo.head
    assert_identical(person, foo.id, local)


def test_a_private_dataset_is_absent_for_others(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    stranger = person.with_token_of(person.world.stranger())
    for caller in (person.anonymous(), stranger):
        with pytest.raises(Refusal, match="not_found"):
            driver.pull(caller.remote(at), tmp_path / "client", foo.id)
        assert_same_answer_as_missing(caller, at)


def assert_same_answer_as_missing(caller: Person, at: str) -> None:
    """Nothing in status, body or headers tells a hidden dataset from one that is not there."""
    for place in ("refs/head", "pull", "push"):
        hidden, missing = (_refused(caller, name, place) for name in (at, f"{at}-missing"))
        if place != "push":  # to the name that does not exist, 401 or 403 as deployed
            assert hidden == missing
        assert hidden[0] == 404


def _refused(caller: Person, name: str, place: str) -> tuple[int, bytes]:
    remote = caller.remote(name)
    if place.startswith("refs"):
        status, _, body = request("GET", f"{remote.url}/{place}", remote.headers())
        return status, body
    with pytest.raises(HandshakeRefused) as refused:
        remote.socket(place)
    return refused.value.status, refused.value.body


@pytest.mark.parametrize("verb", ["pull", "push"])
def test_incompatible_version(
    person: Person, foo: DatasetBuilder, at: str, tmp_path: Path, verb: str
) -> None:
    """Version `0`: the body is exactly what the deployed client's test wants."""
    served(person, foo, tmp_path, at)
    remote = person.remote(at)
    for version, status, body in (
        ("0", 400, b'{"message":"Incompatible client version"}'),
        ("2", 400, b'{"message":"Incompatible client version"}'),
        ("one", 400, b"invalid HTTP header (x-odf-smtp-version)"),
        (None, 400, b"Header of type `x-odf-smtp-version` was missing"),
    ):
        headers = {name: value for name, value in remote.headers().items() if name not in VERSION}
        if version is not None:
            headers["x-odf-smtp-version"] = version
        with pytest.raises(HandshakeRefused) as refused:
            RawWebSocket.connect(f"{remote.url}/{verb}", headers)
        assert (refused.value.status, refused.value.body) == (status, body)
