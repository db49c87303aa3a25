"""A pull over the Simple protocol, from any static server or folder of the layout."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.limits import Limits
from odf_core.metadata import BlockHashMismatch
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.errors import (
    DatasetsDiverged,
    DestinationAhead,
    DownloadMismatch,
    IdentityChanged,
    RemoteDatasetNotFound,
    RemoteObjectNotFound,
    UnexpectedAnswer,
)
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.results import Updated, UpToDate
from odf_core.transfer.client.simple import SimplePull
from odf_core.transfer.client.source import FolderSource, HttpSource
from tests.builders.chain_builder import ChainBuilder
from tests.client.fake_node import FakePeer, Reply
from tests.client.local import Creator, files, sample, write
from tests.client.test_pull import forked

OPTIONS = TransferOptions(backoff=0, attempts=3)


@pytest.fixture
def server() -> Iterator[FakePeer]:
    with FakePeer() as server:
        yield server


def serve(server: FakePeer, builder: ChainBuilder) -> None:
    server._scripts.clear()
    for name, content in builder.files().items():
        server.on("ds/" + name, Reply(200, content))


def pull(server: FakePeer, local: DatasetFolder | None, path: Path, *, force: bool = False) -> object:
    with Http(OPTIONS) as http:
        source = HttpSource(http, DatasetAddress(server.url + "ds/", smart=False), None)
        return SimplePull(source, local, Creator(path), OPTIONS, force=force).run()


def test_new_dataset_and_its_growth(server: FakePeer, tmp_path: Path) -> None:
    serve(server, sample())
    result = pull(server, None, tmp_path)
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head, result.num_blocks) == (None, sample().head, 6)
    assert files(tmp_path) == sample().files()
    local = DatasetFolder(tmp_path)
    assert pull(server, local, tmp_path) == UpToDate(sample().head)

    longer = sample().info().add_data(1)
    serve(server, longer)
    server.seen.clear()
    result = pull(server, local, tmp_path)
    assert isinstance(result, Updated)
    assert (result.old_head, result.num_blocks) == (sample().head, 2)
    assert files(tmp_path) == longer.files()
    assert len([item for item in server.seen if "/blocks/" in item.path]) == 2


def test_from_a_folder(tmp_path: Path) -> None:
    write(sample(), tmp_path / "there")
    source = FolderSource(tmp_path / "there", Limits())
    result = SimplePull(source, None, Creator(tmp_path / "here"), OPTIONS).run()
    assert isinstance(result, Updated)
    assert files(tmp_path / "here") == sample().files()


def test_a_damaged_file_in_a_folder(tmp_path: Path) -> None:
    folder = write(sample(), tmp_path / "there")
    folder.object_path(next(iter(sample().objects))).write_bytes(b"?")
    source = FolderSource(tmp_path / "there", Limits())
    with pytest.raises(DownloadMismatch):
        SimplePull(source, None, Creator(tmp_path / "here"), OPTIONS).run()


def test_diverged(server: FakePeer, tmp_path: Path) -> None:
    ours, theirs = forked()
    local = write(ours, tmp_path)
    serve(server, theirs)
    with pytest.raises(DatasetsDiverged) as caught:
        pull(server, local, tmp_path)
    assert caught.value.extras["commonAncestor"] == str(sample().head)
    assert (caught.value.extras["localAhead"], caught.value.extras["remoteAhead"]) == (2, 1)
    result = pull(server, local, tmp_path, force=True)
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head) == (ours.head, theirs.head)


def test_ahead(server: FakePeer, tmp_path: Path) -> None:
    local = write(sample().add_data(1), tmp_path)
    serve(server, sample())
    with pytest.raises(DestinationAhead):
        pull(server, local, tmp_path)


@pytest.mark.parametrize("force", [False, True])
def test_another_dataset(server: FakePeer, tmp_path: Path, force: bool) -> None:
    local = write(sample("foo"), tmp_path)
    serve(server, sample("bar"))
    with pytest.raises((IdentityChanged, DatasetsDiverged)):
        pull(server, local, tmp_path, force=force)
    assert files(tmp_path) == sample("foo").files()


def test_missing_things(server: FakePeer, tmp_path: Path) -> None:
    with pytest.raises(RemoteDatasetNotFound):
        pull(server, None, tmp_path)
    serve(server, sample())
    server._scripts.pop(f"/ds/blocks/{sample().blocks[2].hash}")
    with pytest.raises(RemoteObjectNotFound) as caught:
        pull(server, None, tmp_path)
    assert caught.value.objects == (str(sample().blocks[2].hash),)
    serve(server, sample())
    ref = next(iter(sample().objects))
    server._scripts.pop(f"/ds/data/{ref.hash}")
    with pytest.raises(RemoteObjectNotFound):
        pull(server, None, tmp_path)
    assert DatasetFolder(tmp_path).head() is None


def test_a_block_that_was_made_anew(server: FakePeer, tmp_path: Path) -> None:
    serve(server, sample())
    path = f"/ds/blocks/{sample().blocks[1].hash}"
    server._scripts[path].clear()
    server.on(path, Reply(200, sample().blocks[2].data))
    with pytest.raises(BlockHashMismatch):
        pull(server, None, tmp_path)


def test_a_head_that_is_none(server: FakePeer, tmp_path: Path) -> None:
    server.on("ds/refs/head", Reply(200, b"<html>not here</html>"))
    with pytest.raises(UnexpectedAnswer):
        pull(server, None, tmp_path)
