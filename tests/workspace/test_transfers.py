"""Pull and push of a workspace: references, names, saved addresses, tokens."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.identity import DatasetAlias
from odf_core.metadata import DatasetKind, Timestamp, read_snapshots
from odf_core.transfer.client import (
    AddressUnresolved,
    DialectName,
    RemoteReadOnly,
    RemoteUnauthenticated,
    TransferOptions,
    Updated,
    UpToDate,
)
from odf_core.transfer.client.errors import IdentityChanged
from odf_core.workspace import (
    LocalDatasetExists,
    LocalDatasetNotFound,
    NoAliasToPull,
    TokenStore,
    Transfers,
    Workspace,
)
from odf_core.workspace.adding import add_snapshots
from odf_core.workspace.templates import template
from tests.client.fake_node import FakePeer, Reply
from tests.client.local import files, sample, write
from tests.client.smart_node import SmartNode
from tests.workspace.test_workspace import create

OPTIONS = TransferOptions(backoff=0, attempts=2, close_timeout=2)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.init(tmp_path / "work", tokens=TokenStore(tmp_path / "home" / "tokens.yaml"))


@pytest.fixture
def transfers(workspace: Workspace) -> Transfers:
    return Transfers(workspace, OPTIONS)


@pytest.fixture
def node() -> Iterator[SmartNode]:
    with SmartNode(sample()) as node:
        yield node


def test_pull_by_url_names_the_dataset_after_the_address(transfers: Transfers, node: SmartNode) -> None:
    done = transfers.pull(f"odf+{node.url}")
    assert isinstance(done.result, Updated)
    assert str(done.dataset.alias) == "foo"
    assert done.dataset.remotes.pull == (f"odf+{node.url}",)
    assert files(done.dataset.path) == sample().files()


def test_pull_again_by_name_id_and_url(transfers: Transfers, node: SmartNode) -> None:
    done = transfers.pull(f"odf+{node.url.rstrip('/')}", name=DatasetAlias.parse("mine"))
    longer = sample().add_data(1)
    node.load(longer)
    again = transfers.pull("mine")
    assert isinstance(again.result, Updated)
    assert again.result.new_head == longer.head
    for reference in (str(done.dataset.id), f"odf+{node.url}"):
        same = transfers.pull(reference)
        assert (same.dataset.path, same.result) == (done.dataset.path, UpToDate(longer.blocks[-1].hash))


def test_pull_without_saving_the_address(transfers: Transfers, node: SmartNode) -> None:
    done = transfers.pull(f"odf+{node.url}", remember=False)
    assert done.dataset.remotes.pull == ()
    with pytest.raises(NoAliasToPull):
        transfers.pull("foo")


def test_pull_of_a_dataset_that_is_pushed_to(transfers: Transfers) -> None:
    snapshots = read_snapshots(template(DatasetAlias.parse("mine"), DatasetKind.ROOT), "mine.yaml")
    add_snapshots(transfers.workspace, snapshots, Timestamp.parse("2026-01-02T03:04:05Z"))
    with pytest.raises(NoAliasToPull, match=r"`odf ingest mine FILE`"):
        transfers.pull("mine")


def test_pull_from_a_folder(transfers: Transfers, tmp_path: Path) -> None:
    write(sample(), tmp_path / "there")
    url = f"file://{tmp_path}/there"
    assert isinstance(transfers.pull(url).result, Updated)
    assert isinstance(transfers.pull("there").result, UpToDate)


def test_pull_from_a_static_server(transfers: Transfers) -> None:
    with FakePeer() as server:
        for name, content in sample().files().items():
            server.on("some/ds/" + name, Reply(200, content))
        done = transfers.pull(server.url + "some/ds")
    assert str(done.dataset.alias) == "ds"
    assert files(done.dataset.path) == sample().files()


def test_pull_in_the_published_dialect_finds_the_id(workspace: Workspace, node: SmartNode) -> None:
    options = OPTIONS.model_copy(update={"dialect": DialectName.PUBLISHED})
    done = Transfers(workspace, options).pull(f"odf+{node.url}")
    assert done.dataset.id == sample().dataset_id
    assert node.requests[0].dataset_id == sample().dataset_id  # type: ignore[attr-defined]


def test_a_broken_first_pull_leaves_no_dataset(transfers: Transfers, workspace: Workspace) -> None:
    def hook(point: str, times: int) -> None:
        if point == "pull objects":
            raise ZeroDivisionError

    with SmartNode(sample(), hook=hook) as node, pytest.raises(Exception, match="connection"):
        transfers.pull(f"odf+{node.url}")
    assert list(workspace.datasets()) == []
    with SmartNode(sample()) as node:
        transfers.pull(f"odf+{node.url}", name=DatasetAlias.parse("later"))
    assert [str(item.alias) for item in workspace.datasets()] == ["later"]


def test_the_same_dataset_under_another_address(
    transfers: Transfers, workspace: Workspace, node: SmartNode
) -> None:
    create(workspace, "original", sample())
    with pytest.raises(LocalDatasetExists, match="original"):
        transfers.pull(f"odf+{node.url}")
    same = transfers.pull(f"odf+{node.url}", name=DatasetAlias.parse("original"))
    assert isinstance(same.result, UpToDate)


def test_another_dataset_of_the_same_name(
    transfers: Transfers, workspace: Workspace, node: SmartNode
) -> None:
    create(workspace, "foo", sample("other"))
    with pytest.raises(IdentityChanged):
        transfers.pull(f"odf+{node.url}")


def test_an_address_that_gives_no_name(transfers: Transfers, node: SmartNode) -> None:
    with pytest.raises(AddressUnresolved, match="--as"):
        transfers.pull(f"odf+{node.origin}under_score/")


def test_push_by_url_and_again(transfers: Transfers, workspace: Workspace) -> None:
    create(workspace, "mine", sample())
    with SmartNode() as node:
        done = transfers.push("mine", f"odf+{node.url}")
        assert isinstance(done.result, Updated)
        assert node.head == sample().head
        assert isinstance(transfers.push("mine").result, UpToDate)
    assert done.dataset.remotes.push == (f"odf+{node.url}",)


def test_push_needs_a_target_that_can_be_written(transfers: Transfers, workspace: Workspace) -> None:
    create(workspace, "mine", sample())
    with pytest.raises(AddressUnresolved, match="where to push"):
        transfers.push("mine")
    with pytest.raises(RemoteReadOnly):
        transfers.push("mine", "http://h/mine")
    with pytest.raises(AddressUnresolved, match="no repository elsewhere"):
        transfers.push("mine", "elsewhere")
    with pytest.raises(LocalDatasetNotFound):
        transfers.push("nothing", "odf+http://h/nothing")


class Repo(SmartNode):
    """A node with the REST calls of wire.md 6.3."""

    answers: dict[str, tuple[int, bytes]]
    asked: list[tuple[str, str | None]]

    def _get(self, request):  # type: ignore[no-untyped-def]
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        found = self.answers.get(request.path)
        self.asked.append((request.path, request.headers.get("Authorization")))
        if found is None:
            return super()._get(request)
        status, body = found
        headers = Headers({"Content-Length": str(len(body)), "Connection": "close"})
        return Response(status, "X", headers, body)


def repo(**answers: object) -> Repo:
    node = Repo(sample())
    node.asked = []
    node.answers = {
        "/info": (200, b'{"isMultiTenant": true}'),
        "/accounts/me": (200, b'{"id": "did:odf:x", "accountName": "alice"}'),
    } | answers  # type: ignore[operator]
    return node


def test_pull_by_repository(transfers: Transfers, workspace: Workspace) -> None:
    from odf_core.identity import RepoName

    with repo() as node:
        workspace.repos.add(RepoName("node"), f"odf+{node.origin}")
        workspace.tokens.set(node.origin, "secret")
        done = transfers.pull("node/foo")
        assert done.address == f"odf+{node.origin}alice/foo/"
        assert node.asked[:2] == [("/info", "Bearer secret"), ("/accounts/me", "Bearer secret")]
        assert isinstance(transfers.pull("node/alice/foo").result, UpToDate)
        known = (
            f'{{"id": "{sample().dataset_id}", "owner": {{"accountName": "alice"}}, "datasetName": "foo"}}'
        )
        node.answers[f"/datasets/{sample().dataset_id}"] = (200, known.encode())
        assert isinstance(transfers.pull(f"node/{sample().dataset_id}").result, UpToDate)


def test_push_to_a_repository(transfers: Transfers, workspace: Workspace) -> None:
    from odf_core.identity import RepoName

    create(workspace, "foo", sample())
    node = repo()
    node.head = None
    with node:
        workspace.repos.add(RepoName("node"), node.origin)  # plain http: pushing is Smart nonetheless
        done = transfers.push("foo")
        assert done.address == f"odf+{node.origin}alice/foo/"
        known = (
            f'{{"id": "{sample().dataset_id}", "owner": {{"accountName": "alice"}}, "datasetName": "foo"}}'
        )
        node.answers[f"/datasets/{sample().dataset_id}"] = (200, known.encode())
        assert isinstance(transfers.push("foo", "node").result, UpToDate)
        assert isinstance(transfers.push("foo", "node/alice/foo").result, UpToDate)


def test_a_single_tenant_repository_has_no_accounts(transfers: Transfers, workspace: Workspace) -> None:
    from odf_core.identity import RepoName

    with repo(**{"/info": (404, b"")}) as node:
        workspace.repos.add(RepoName("node"), f"odf+{node.origin}")
        with pytest.raises(Exception, match=f"{node.origin}foo/"):
            transfers.pull("node/foo")
        assert "/accounts/me" not in [path for path, _ in node.asked]


def test_who_is_nobody_has_to_say_whose_dataset(transfers: Transfers, workspace: Workspace) -> None:
    from odf_core.identity import RepoName

    create(workspace, "mine", sample("mine"))
    with repo(**{"/accounts/me": (401, b'{"message": "Unauthenticated"}')}) as node:
        workspace.repos.add(RepoName("node"), f"odf+{node.origin}")
        with pytest.raises(AddressUnresolved, match="node/ACCOUNT/foo"):
            transfers.pull("node/foo")
        with pytest.raises(RemoteUnauthenticated, match="odf login"):
            transfers.push("mine", "node")


def test_a_token_that_ran_out_is_told(transfers: Transfers, workspace: Workspace) -> None:
    from odf_core.identity import RepoName

    with repo(**{"/accounts/me": (401, b'{"message": "Unauthenticated"}')}) as node:
        workspace.repos.add(RepoName("node"), f"odf+{node.origin}")
        workspace.tokens.set(node.origin, "old")
        with pytest.raises(RemoteUnauthenticated, match="odf login"):
            transfers.pull("node/foo")
