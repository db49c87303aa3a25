"""The push scenarios of wire.md 8, by our client and the scripted one, in both dialects and tenancies.

After each success both sides hold the same blocks, checkpoints, data and refs, byte for byte.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from odf_core.identity import DatasetId, RepoName
from odf_core.transfer import Visibility
from odf_core.workspace import Transfers, Workspace
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, root_dataset, seed_only
from tests.scenarios.drivers import Driver, Refusal, ScriptedDeployed
from tests.scenarios.world import Person, assert_identical, on_chain, served
from tests.scripted import deployed
from tests.scripted.deployed import Refused, negotiate, offer
from tests.scripted.folder import Folder
from tests.scripted.http import request, upload


def test_new_dataset(person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    local = foo.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (None, foo.head, 4)
    assert_identical(person, foo.id, local)
    assert person.remote(at).head() == foo.head
    assert person.anonymous().remote(at).head() is None, "a push creates a private dataset"


def test_new_dataset_as_public(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    local = foo.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, foo.id, visibility=_visibility(driver))
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (None, foo.head, 4)
    assert_identical(person, foo.id, local)
    seen = person.anonymous().remote(at).head()
    assert seen == (foo.head if driver.has_visibility else None)


def _visibility(driver: Driver) -> str:
    return "Public" if driver.has_visibility else "Private"


def test_new_empty_dataset(person: Person, driver: Driver, unique: str, at: str, tmp_path: Path) -> None:
    empty = seed_only(unique)
    local = empty.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, empty.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (None, empty.head, 1)
    assert_identical(person, empty.id, local)


def test_new_derivative_dataset(person: Person, driver: Driver, unique: str, at: str, tmp_path: Path) -> None:
    """Its inputs need not be on the node."""
    derived = derivative_dataset(unique, "an input", "another")
    local = derived.write(tmp_path / "client")
    assert driver.push(person.remote(at), local, derived.id).num_blocks == 4
    assert_identical(person, derived.id, local)


def test_existing_up_to_date_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    local = foo.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.updated, outcome.new_head) == (False, foo.head)
    assert_identical(person, foo.id, local)


def test_existing_evolved_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    old_head = foo.head
    local = foo.info("more is coming").add(7).write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (old_head, foo.head, 2)
    assert_identical(person, foo.id, local)


def test_existing_diverged_dataset(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The client compacted: refused without force; with it the whole chain is pushed."""
    foo.add(5)
    served(person, foo, tmp_path, at)
    old_head, compacted = foo.head, foo.compacted()
    local = compacted.write(tmp_path / "client")
    before = person.world.snapshot()
    with pytest.raises(Refusal, match="diverged"):
        driver.push(person.remote(at), local, foo.id)
    assert person.world.snapshot() == before
    if not driver.has_force:
        return
    outcome = driver.push(person.remote(at), local, foo.id, force=True)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (old_head, compacted.head, 4)
    stored = on_chain(person.world.files(foo.id.multibase), tmp_path / "stored")
    assert stored == Folder(local).files() == compacted.files()
    # What was replaced can still be read by its hash.
    remote = person.remote(at)
    status, _, body = request("GET", f"{remote.url}/blocks/{old_head}", remote.headers())
    assert (status, body) == (200, foo.blocks[-1].data)


def test_existing_dataset_fails_as_server_advanced(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    local = foo.write(tmp_path / "client")
    served(person, foo.info("only there"), tmp_path, at)
    before = person.world.snapshot()
    with pytest.raises(Refusal, match="diverged"):
        driver.push(person.remote(at), local, foo.id)
    assert person.world.snapshot() == before


def test_aborted_write_of_new_rewrite_succeeds(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """An earlier push was broken off after the node had taken the slice in, and before its commit."""
    local = foo.write(tmp_path / "client")
    broken_off_push(person, foo, tmp_path, at, uploaded=["DataSlice"])
    assert person.remote(at).head() is None
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (None, foo.head, 4)
    assert outcome.skipped == 1, "what the node holds does not move again"
    assert_identical(person, foo.id, local)


def test_aborted_write_of_updated_rewrite_succeeds(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    served(person, foo, tmp_path, at)
    old_head = foo.head
    local = foo.info("more is coming").add(7).write(tmp_path / "client")
    broken_off_push(person, foo, tmp_path, at, uploaded=["DataSlice"])
    assert person.remote(at).head() == old_head
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.old_head, outcome.new_head, outcome.num_blocks) == (old_head, foo.head, 2)
    assert outcome.skipped == 1
    assert_identical(person, foo.id, local)


def test_files_that_nobody_vouches_for_are_uploaded_again(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Data files stand in the bucket, without a head and unknown to the index: they are replaced."""
    world = person.world
    for name in foo.files():
        if name.startswith(("data/", "checkpoints/")):
            key = f"{foo.id.multibase}/{name}"
            world.s3.put_object(Bucket=world.bucket.bucket, Key=key, Body=b"left by a crash")
    local = foo.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, foo.id)
    assert (outcome.num_blocks, outcome.skipped) == (4, 0)
    assert_identical(person, foo.id, local)


def broken_off_push(
    person: Person, dataset: DatasetBuilder, tmp_path: Path, at: str, *, uploaded: Iterable[str]
) -> None:
    """A push that uploads only objects of these types, completes, and is refused for the others."""
    local = Folder(dataset.write(tmp_path / "broken-off"))
    remote = person.remote(at)
    chain = local.chain(tail=remote.head())
    ws = remote.socket("push")
    offer(ws, chain, remote.head())
    objects = [item for _, _, facts in chain for item in facts.objects]
    for strategy in negotiate(ws, objects):
        reference = strategy["object_file"]
        if reference["object_type"] in uploaded:
            data = local.object_path(reference["object_type"], reference["physical_hash"]).read_bytes()
            assert upload(strategy["upload_to"], data) == 200
    ws.send_json({"details": "Complete"})
    with pytest.raises(Refused, match="objects_missing"):
        deployed.complete(ws)


@pytest.mark.parametrize("visibility", ["Private", "Public"])
def test_via_repo_ref(person: Person, unique: str, tmp_path: Path, visibility: str) -> None:
    """A repository registered as plain http: account and name are looked up, then a smart push."""
    foo = root_dataset(unique)
    workspace = Workspace.init(tmp_path)
    workspace.create_from_blocks("foo-by-repo", foo.blocks, foo.write(tmp_path / "made"))
    workspace.repos.add(RepoName("node"), person.world.node.base_url)
    transfers = Transfers(workspace, token=person.token)
    done = transfers.push("foo-by-repo", "node", visibility=Visibility(visibility))
    assert done.address.startswith("odf+http://")
    assert str(getattr(done.result, "num_blocks", None)) == "4"
    assert_identical(person, foo.id, workspace.dataset("foo-by-repo").path)
    assert person.remote("foo-by-repo").head() == foo.head
    again = transfers.push("foo-by-repo")
    assert getattr(again.result, "head", None) == foo.blocks[-1].hash
    _delete(person, foo.id)


def _delete(person: Person, dataset_id: DatasetId) -> None:
    """Single-tenant nodes have one account, so the name has to be free for the next parameter."""
    from app.datasets.admin import delete_dataset
    from odf_core.identity import DatasetAlias

    alias = DatasetAlias.parse(f"{person.name}/foo-by-repo")
    person.world.node.run(lambda context: delete_dataset(context, alias))
    assert person.world.files(dataset_id.multibase) == {}


def test_via_repo_ref_scripted(person: Person, foo: DatasetBuilder, tmp_path: Path) -> None:
    """What the deployed client asks on the way (wire.md 6.3), word by word."""
    base, bearer = person.world.node.base_url, {"Authorization": f"Bearer {person.token}"}
    told = json.loads(request("GET", f"{base}/info")[2])
    assert told == {"isMultiTenant": person.world.is_multi_tenant}
    status, _, body = request("GET", f"{base}/accounts/me", bearer)
    assert status == 200
    assert f'"accountName":"{person.name}"'.encode() in body
    assert request("GET", f"{base}/datasets/{foo.id}", bearer)[:1] == (404,)
    name = f"found-{person.name}"
    local = foo.write(tmp_path / "client")
    outcome = ScriptedDeployed().push(person.remote(name), local, foo.id)
    assert outcome.num_blocks == 4
    status, _, body = request("GET", f"{base}/datasets/{foo.id}", bearer)
    assert status == 200
    assert f'"datasetName":"{name}"'.encode() in body


def test_new_dataset_unauthenticated(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    local = foo.write(tmp_path / "client")
    with pytest.raises(Refusal, match="unauthenticated"):
        driver.push(person.anonymous().remote(at), local, foo.id)


def test_new_dataset_wrong_user(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The account of the address is not the token's."""
    local = foo.write(tmp_path / "client")
    stranger = person.with_token_of(person.world.stranger())
    with pytest.raises(Refusal, match="unauthorized"):
        driver.push(stranger.remote(at), local, foo.id)


def test_existing_dataset_without_any_right(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Private: not there at all. Public: 403, as the decisions of wire-published.md have it.

    Our client tells somebody without a token to log in, whichever of the two it was.
    """
    served(person, foo, tmp_path, at)
    public = f"{at}-public"
    other = root_dataset(f"{foo.chain.name[:20]} public")
    served(person, other, tmp_path, public, visibility="Public")
    stranger = person.with_token_of(person.world.stranger())
    before = person.world.snapshot()
    for caller in (person.anonymous(), stranger):
        asked_to_log_in = caller.token is None and driver.name.startswith("ours")
        with pytest.raises(Refusal, match="unauthenticated" if asked_to_log_in else "not_found"):
            driver.push(caller.remote(at), foo.write(tmp_path / "client"), foo.id)
        newer = other.fork().info("not mine").write(tmp_path / "newer")
        with pytest.raises(Refusal, match="unauthenticated" if asked_to_log_in else "unauthorized"):
            driver.push(caller.remote(public), newer, other.id)
    assert person.world.snapshot() == before


def test_existing_ref_collision(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The id is stored under another name."""
    served(person, foo, tmp_path, at)
    before = person.world.snapshot()
    with pytest.raises(Refusal, match="ref_collision"):
        driver.push(person.remote(f"{at}-elsewhere"), foo.write(tmp_path / "client"), foo.id)
    assert person.world.snapshot() == before
    assert person.remote(f"{at}-elsewhere").head() is None


def test_force_overwrites_no_seed(
    person: Person, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Another dataset over an existing one fails with and without force, in both directions."""
    served(person, foo, tmp_path, at)
    other = root_dataset(f"{foo.chain.name[:20]} other")
    local = other.write(tmp_path / "client")
    before = person.world.snapshot()
    for force in {False, driver.has_force}:
        with pytest.raises(Refusal):
            driver.push(person.remote(at), local, other.id, force=force)
        if not driver.name.startswith("scripted"):
            with pytest.raises(Refusal):
                driver.pull(person.remote(at), local, other.id, force=force)
    assert person.world.snapshot() == before
    assert Folder(local).files() == other.files()
