"""A person's workspace: datasets, names, files that are its own."""

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from odf_core.chain import PrevBlockNotFound
from odf_core.identity import DatasetAlias, DatasetName, ObjectRef, RepoName
from odf_core.transfer.client.errors import LocalObjectDamaged
from odf_core.workspace import (
    DatasetBusy,
    InvalidRepoUrl,
    LocalDataset,
    LocalDatasetExists,
    LocalDatasetNotFound,
    NothingToImport,
    RepoExists,
    RepoNotFound,
    TokenStore,
    Workspace,
    WorkspaceExists,
    WorkspaceNotFound,
    WorkspaceUnreadable,
)
from tests.builders.chain_builder import ChainBuilder
from tests.client.local import files, sample


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.init(tmp_path / "work", tokens=TokenStore(tmp_path / "home" / "tokens.yaml"))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODF_WORKSPACE", raising=False)


def objects(builder: ChainBuilder, folder: Path) -> dict[ObjectRef, Path]:
    folder.mkdir(exist_ok=True)
    found = {}
    for ref, content in builder.objects.items():
        found[ref] = folder / str(ref.hash)
        found[ref].write_bytes(content)
    return found


def create(workspace: Workspace, name: str, builder: ChainBuilder) -> LocalDataset:
    return workspace.create_from_blocks(name, builder.blocks, objects(builder, workspace.root / name))


def test_a_workspace_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Workspace.init(tmp_path)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert Workspace.find(below).root == made.root
    monkeypatch.chdir(below)
    assert Workspace.find().root == made.root
    with pytest.raises(WorkspaceExists):
        Workspace.init(tmp_path)


def test_the_environment_may_name_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Workspace.init(tmp_path / "there")
    monkeypatch.setenv("ODF_WORKSPACE", str(tmp_path / "there"))
    assert Workspace.find(tmp_path).root == made.root
    monkeypatch.setenv("ODF_WORKSPACE", str(tmp_path / "elsewhere"))
    with pytest.raises(WorkspaceNotFound, match="odf init"):
        Workspace.find(tmp_path / "there")


def test_a_workspace_of_another_version_is_left_alone(tmp_path: Path) -> None:
    root = Workspace.init(tmp_path).root
    (root / "version").write_text("2")
    with pytest.raises(WorkspaceUnreadable, match="version '2'"):
        Workspace.find(tmp_path)


def test_datasets_by_name_and_id(workspace: Workspace) -> None:
    first, second = create(workspace, "zebra", sample("z")), create(workspace, "Apple", sample("a"))
    assert [str(item.alias) for item in workspace.datasets()] == ["Apple", "zebra"]
    assert workspace.dataset("ZEBRA").id == first.id
    assert workspace.dataset(str(second.id)).alias == DatasetAlias(None, DatasetName("apple"))
    assert first.head == sample("z").head
    assert files(first.path) == sample("z").files()
    assert (first.path / "info/alias").read_bytes() == b"zebra"
    assert first.path.name == first.id.multibase
    with pytest.raises(LocalDatasetNotFound):
        workspace.dataset("nobody")


def test_foreign_files_among_the_datasets(workspace: Workspace) -> None:
    (workspace.root / "datasets" / "notes.txt").write_text("mine")
    (workspace.root / "datasets" / "folder").mkdir()
    assert list(workspace.datasets()) == []


def test_a_dataset_without_head_does_not_exist(workspace: Workspace) -> None:
    dataset = create(workspace, "foo", sample())
    (dataset.path / "refs/head").unlink()
    assert list(workspace.datasets()) == []
    with pytest.raises(LocalDatasetNotFound):
        workspace.dataset(str(dataset.id))
    again = create(workspace, "bar", sample())
    assert (again.path, str(again.alias)) == (dataset.path, "bar")


def test_names_and_ids_are_taken_once(workspace: Workspace) -> None:
    create(workspace, "foo", sample("foo"))
    with pytest.raises(LocalDatasetExists, match="already, as foo"):
        create(workspace, "bar", sample("foo"))
    with pytest.raises(LocalDatasetExists, match="choose another name"):
        create(workspace, "FOO", sample("bar"))


def test_datasets_are_made_and_continued_from_blocks(workspace: Workspace, tmp_path: Path) -> None:
    builder = sample()
    dataset = create(workspace, "foo", builder)
    more = builder.fork().info().add_data(5)
    workspace.append_blocks(dataset, more.blocks[-2:], objects(more, tmp_path / "files"))
    assert dataset.head == more.head
    with pytest.raises(PrevBlockNotFound):
        workspace.append_blocks(dataset, builder.fork().add_data(1).blocks[-1:])
    assert dataset.head == more.head
    assert files(dataset.path) == more.files()


def test_files_that_are_not_as_declared(workspace: Workspace, tmp_path: Path) -> None:
    builder = sample()
    given = objects(builder, tmp_path / "files")
    missing = dict(given)
    ref, path = missing.popitem()
    with pytest.raises(NothingToImport, match="no file of it"):
        workspace.create_from_blocks("foo", builder.blocks, missing)
    path.write_bytes(b"x")
    with pytest.raises(LocalObjectDamaged) as caught:
        workspace.create_from_blocks("foo", builder.blocks, given)
    assert caught.value.objects == (str(ref.hash),)
    assert list(workspace.datasets()) == []


def test_nothing_makes_no_dataset(workspace: Workspace) -> None:
    with pytest.raises(NothingToImport):
        workspace.create_from_blocks("foo", [])
    with pytest.raises(NothingToImport):
        workspace.create_from_blocks("foo", sample().blocks[1:])


def test_delete(workspace: Workspace) -> None:
    dataset = create(workspace, "foo", sample())
    workspace.delete(dataset)
    assert not dataset.path.exists()
    assert list(workspace.datasets()) == []


def test_addresses_are_remembered_once_each(workspace: Workspace) -> None:
    dataset = create(workspace, "foo", sample())
    for _ in range(2):
        dataset.remember(pull="http://a/")
        dataset.remember(push="odf+http://b/")
    dataset.remember(pull="http://c/")
    assert dataset.remotes.pull == ("http://a/", "http://c/")
    assert dataset.remotes.push == ("odf+http://b/",)
    text = (dataset.path / "info/config").read_text()
    assert text.startswith("kind: DatasetConfig\nversion: 1\ncontent:\n")
    (dataset.path / "info/config").write_text("kind: Other")
    with pytest.raises(WorkspaceUnreadable):
        _ = dataset.remotes


def test_repositories(workspace: Workspace) -> None:
    repos = workspace.repos
    assert repos.add(RepoName("node"), "odf+http://h:1/x") == "odf+http://h:1/x/"
    assert repos.add(RepoName("bare"), "example.org") == "odf+https://example.org/"
    assert repos[RepoName("NODE")] == "odf+http://h:1/x/"
    assert sorted(repos) == ["bare", "node"]
    repos.add(RepoName("node"), "odf+http://h:1/x/")
    with pytest.raises(RepoExists):
        repos.add(RepoName("Node"), "odf+http://other/")
    for wrong in ("ftp://h/", "http://", "http://u:p@h/", "http://h/?q=1"):
        with pytest.raises(InvalidRepoUrl):
            repos.add(RepoName("x"), wrong)
    repos.remove(RepoName("bare"))
    with pytest.raises(RepoNotFound):
        repos.remove(RepoName("bare"))


def test_tokens_belong_to_origins_and_to_one_person(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "home" / "tokens.yaml")
    assert store.get("https://h/") is None
    assert store.set("odf+https://H:443/some/path/", "secret") == "https://h"
    assert store.get("https://h/other") == "secret"
    assert store.get("http://h/") is None
    assert store.get("https://h:8443/") is None
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    store.set("http://h:80", "plain")
    assert store.origins() == ["http://h", "https://h"]
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert store.remove("https://h")
    assert not store.remove("https://h")
    store.path.write_text("- a list")
    with pytest.raises(WorkspaceUnreadable):
        store.get("https://h")


def test_tokens_live_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODF_HOME", str(tmp_path / "h"))
    assert TokenStore().path == tmp_path / "h" / "tokens.yaml"


def _hold(
    path: Path, taken: "multiprocessing.synchronize.Event", done: "multiprocessing.synchronize.Event"
) -> None:
    with Workspace(path).dataset("foo").lock():
        taken.set()
        done.wait(30)


def test_two_commands_do_not_work_on_one_dataset(workspace: Workspace) -> None:
    dataset = create(workspace, "foo", sample())
    context = multiprocessing.get_context("spawn")
    taken, done = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(workspace.root, taken, done))
    other.start()
    try:
        assert taken.wait(30)
        with pytest.raises(DatasetBusy, match="foo"), dataset.lock(patience=0):
            pass
    finally:
        done.set()
        other.join(30)
    with dataset.lock(patience=5):
        assert os.path.exists(workspace.root / "locks")
