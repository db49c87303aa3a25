"""A Smart pull and what may befall it: the local dataset is whole afterwards, old or new."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from odf_core.chain import PrevBlockNotFound
from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectRef
from odf_core.metadata import BlockHashMismatch
from odf_core.transfer import BlocksBatch, PullRequest, write_archive
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.errors import (
    DatasetsDiverged,
    DestinationAhead,
    DownloadMismatch,
    IdentityChanged,
    LocalHeadMoved,
    RemoteDatasetNotFound,
    RemoteUnavailable,
    TransferUrlExpired,
)
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.landing import CreateDataset
from odf_core.transfer.client.options import DialectName, TransferOptions
from odf_core.transfer.client.pull import SmartPull
from odf_core.transfer.client.results import Updated, UpToDate
from odf_core.transfer.errors import BatchCountMismatch, ConnectionLost, UnexpectedMessage
from tests.builders.chain_builder import ChainBuilder
from tests.client.fake_node import Reply, Seen
from tests.client.local import Creator, files, sample, write
from tests.client.smart_node import Drop, SmartNode

EXPIRED = Reply(403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
OPTIONS = TransferOptions(backoff=0, attempts=3, close_timeout=2, parallelism=4)


@pytest.fixture(params=list(DialectName))
def options(request: pytest.FixtureRequest) -> TransferOptions:
    return OPTIONS.model_copy(update={"dialect": request.param})


@pytest.fixture
def node() -> Iterator[SmartNode]:
    with SmartNode(sample()) as node:
        yield node


def pull(
    node: SmartNode,
    local: DatasetFolder | None,
    create: CreateDataset | None = None,
    *,
    options: TransferOptions = OPTIONS,
    **more: object,
) -> object:
    def refuse(_seed: object) -> DatasetFolder:
        raise AssertionError("the dataset is there already")

    with Http(options) as http:
        address = DatasetAddress(node.url, smart=True)
        more.setdefault("dataset_id", sample().dataset_id)
        return SmartPull(http, address, local, create or refuse, **more).run()  # type: ignore[arg-type]


def test_new_dataset(node: SmartNode, tmp_path: Path, options: TransferOptions) -> None:
    builder, creator = sample(), Creator(tmp_path)
    result = pull(node, None, creator, options=options)
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head, result.num_blocks) == (None, builder.head, 6)
    assert (result.stats.objects_moved, result.stats.objects_present) == (6, 0)
    assert files(tmp_path) == builder.files()
    assert [seed.dataset_id for seed in creator.seeds] == [builder.dataset_id]


def test_the_client_closes_with_the_reason_of_success(node: SmartNode, tmp_path: Path) -> None:
    pull(node, None, Creator(tmp_path))
    node.stop()
    assert node.closes == [(1000, "Client pull flow succeeded")]


def test_empty_dataset(tmp_path: Path, options: TransferOptions) -> None:
    from tests.builders.chain_builder import chain

    with SmartNode(chain("foo").seed()) as node:
        result = pull(node, None, Creator(tmp_path), options=options)
        assert isinstance(result, Updated)
        assert result.num_blocks == 1
        assert node.points["pull objects"] == 0


def test_up_to_date(node: SmartNode, tmp_path: Path) -> None:
    local = write(sample(), tmp_path)
    assert pull(node, local) == UpToDate(sample().head)
    assert node.points["pull request"] == 0


def test_evolved(node: SmartNode, tmp_path: Path, options: TransferOptions) -> None:
    local = write(sample(), tmp_path)
    longer = sample().info().add_data(5, checkpoint=b"next")
    node.load(longer)
    result = pull(node, local, options=options)
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head, result.num_blocks) == (sample().head, longer.head, 2)
    assert files(tmp_path) == longer.files()


def test_a_chain_that_was_pulled_is_continued_from_its_key_blocks(node: SmartNode, tmp_path: Path) -> None:
    pull(node, None, Creator(tmp_path))
    read: list[Multihash] = []

    class Watched(DatasetFolder):
        def block_bytes(self, block_hash: Multihash) -> bytes:
            read.append(block_hash)
            return super().block_bytes(block_hash)

    longer = sample().add_data(5)
    node.load(longer)
    pull(node, Watched(tmp_path))
    assert files(tmp_path) == longer.files()
    assert read == [sample().blocks[number].hash for number in (0, 1, 2, 5)]


def test_a_node_that_answers_in_parts(tmp_path: Path, options: TransferOptions) -> None:
    with SmartNode(sample(), most_blocks=2) as node:
        result = pull(node, None, Creator(tmp_path), options=options)
    assert isinstance(result, Updated)
    assert (result.old_head, result.num_blocks, node.points["pull request"]) == (None, 6, 3)
    assert files(tmp_path) == sample().files()


def test_missing_dataset(tmp_path: Path) -> None:
    with SmartNode() as node, pytest.raises(RemoteDatasetNotFound):
        pull(node, None, Creator(tmp_path))


# Sides that do not follow each other


def forked() -> tuple[ChainBuilder, ChainBuilder]:
    base = sample()
    return base.fork().add_data(1).add_data(2), base.fork().add_data(7)


def test_diverged(tmp_path: Path, options: TransferOptions) -> None:
    ours, theirs = forked()
    local = write(ours, tmp_path)
    with SmartNode(theirs) as node, pytest.raises(DatasetsDiverged) as caught:
        pull(node, local, options=options)
    extras = caught.value.extras
    assert (extras["localHead"], extras["remoteHead"]) == (str(ours.head), str(theirs.head))
    assert extras["commonAncestor"] == str(sample().head)
    assert (extras["localAhead"], extras["remoteAhead"]) == (2, 1)
    assert "odf pull --force" in caught.value.message
    assert files(tmp_path) == ours.files()


def test_diverged_by_force(tmp_path: Path) -> None:
    ours, theirs = forked()
    local = write(ours, tmp_path)
    with SmartNode(theirs) as node:
        result = pull(node, local, force=True)
        sent = node.requests[0]
    assert isinstance(sent, PullRequest)
    assert sent.force
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head, result.num_blocks) == (ours.head, theirs.head, 7)
    assert (result.stats.objects_moved, result.stats.objects_present) == (1, 6)
    assert DatasetFolder(tmp_path).head() == theirs.head
    assert theirs.files().items() <= files(tmp_path).items()


def test_ahead(node: SmartNode, tmp_path: Path, options: TransferOptions) -> None:
    longer = sample().add_data(1)
    local = write(longer, tmp_path)
    with pytest.raises(DestinationAhead) as caught:
        pull(node, local, options=options)
    assert caught.value.extras["localAhead"] == 1
    assert caught.value.extras["remoteAhead"] == 0
    assert files(tmp_path) == longer.files()


@pytest.mark.parametrize("force", [False, True])
def test_another_dataset_under_the_same_address(tmp_path: Path, force: bool) -> None:
    local = write(sample("foo"), tmp_path)
    with SmartNode(sample("bar")) as node, pytest.raises(IdentityChanged) as caught:
        pull(node, local, force=force)
    assert caught.value.objects == (str(sample("foo").dataset_id), str(sample("bar").dataset_id))
    assert files(tmp_path) == sample("foo").files()


def test_another_kind_under_the_same_id(tmp_path: Path) -> None:
    from tests.builders.chain_builder import chain

    local = write(chain("foo").seed("derivative"), tmp_path)
    with SmartNode(sample("foo")) as node, pytest.raises(IdentityChanged):
        pull(node, local, force=True)


def test_a_chain_that_is_explained_no_further(tmp_path: Path) -> None:
    ours, theirs = forked()
    local = write(ours, tmp_path)

    def hook(point: str, times: int) -> None:
        if point == "pull metadata":
            raise Drop

    with SmartNode(theirs, hook=hook) as node, pytest.raises(DatasetsDiverged) as caught:
        pull(node, local)
    assert caught.value.extras["commonAncestor"] is None


# Faults


def once(point: str, error: type[Exception] = Drop) -> Callable[[str, int], None]:
    def hook(seen: str, times: int) -> None:
        if seen == point and times == 1:
            raise error

    return hook


@pytest.mark.parametrize("point", ["pull request", "pull metadata", "pull objects"])
def test_a_dropped_socket_is_opened_anew(tmp_path: Path, point: str) -> None:
    with SmartNode(sample(), hook=once(point)) as node:
        result = pull(node, None, Creator(tmp_path))
    assert isinstance(result, Updated)
    assert files(tmp_path) == sample().files()


def test_a_socket_that_drops_while_objects_come_is_not_missed(tmp_path: Path) -> None:
    with SmartNode(sample(), hook=once("pull urls sent")) as node:
        result = pull(node, None, Creator(tmp_path))
    assert isinstance(result, Updated)
    assert node.points["pull request"] == 1
    assert files(tmp_path) == sample().files()


def test_a_socket_that_always_drops(tmp_path: Path) -> None:
    def hook(point: str, times: int) -> None:
        if point == "pull metadata":
            raise Drop

    with SmartNode(sample(), hook=hook) as node, pytest.raises(ConnectionLost):
        pull(node, None, Creator(tmp_path))
    assert node.points["pull request"] == OPTIONS.session_attempts
    assert not (tmp_path / "refs").exists()


class Storage(SmartNode):
    """`faults` gives the replies before the right one, for objects by their content."""

    faults: dict[bytes, list[Reply]]

    def download_script(self, ref: ObjectRef, usual: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
        replies = self.faults.get(
            next(body for known, body in self.objects.items() if known.hash == ref.hash)
        )
        return lambda seen: replies.pop(0) if replies else usual(seen)


def storage(faults: dict[bytes, list[Reply]], **more: object) -> Storage:
    node = Storage(sample(), **more)  # type: ignore[arg-type]
    node.faults = faults
    return node


SLICE = next(iter(sample().objects.values()))


def test_expired_urls_are_asked_for_on_the_same_socket(tmp_path: Path, options: TransferOptions) -> None:
    with storage({SLICE: [EXPIRED, EXPIRED]}) as node:
        result = pull(node, None, Creator(tmp_path), options=options)
    assert isinstance(result, Updated)
    assert (node.points["pull request"], node.points["pull objects"]) == (1, 3)
    assert files(tmp_path) == sample().files()


def test_urls_that_never_work(tmp_path: Path) -> None:
    with storage({SLICE: [EXPIRED] * 1000}) as node, pytest.raises(TransferUrlExpired):
        pull(node, None, Creator(tmp_path))
    assert DatasetFolder(tmp_path).head() is None


def test_a_clock_that_is_ahead_does_not_matter(tmp_path: Path) -> None:
    with storage({}, url_life=timedelta(days=-1)) as node:
        pull(node, None, Creator(tmp_path))
    assert node.points["pull objects"] == 1


def test_wrong_bytes_under_a_right_name(tmp_path: Path) -> None:
    wrong = Reply(200, bytes(len(SLICE)))
    with storage({SLICE: [wrong]}) as node, pytest.raises(DownloadMismatch) as caught:
        pull(node, None, Creator(tmp_path))
    assert caught.value.objects == (str(Multihash.sha3_256(SLICE)),)
    assert DatasetFolder(tmp_path).head() is None
    assert list((tmp_path / "blocks").iterdir()) == []
    assert Multihash.sha3_256(SLICE) not in [Multihash.parse(p.name) for p in (tmp_path / "data").glob("f*")]


def test_a_broken_pull_is_continued_by_the_next(tmp_path: Path) -> None:
    with storage({SLICE: [Reply(200, SLICE, cut=20_000), *[Reply(503)] * 3]}) as node:
        with pytest.raises(RemoteUnavailable):
            pull(node, None, Creator(tmp_path), options=OPTIONS.model_copy(update={"parallelism": 1}))
        present = list((tmp_path / "data").glob("f*"))
        result = pull(node, None, Creator(tmp_path))
    assert isinstance(result, Updated)
    assert result.stats.objects_present >= len(present)
    assert result.stats.objects_moved == 6 - result.stats.objects_present
    assert {name for name in files(tmp_path) if ".partial" in name} == set()
    assert files(tmp_path) == sample().files()


def test_objects_that_are_there_do_not_move_again(node: SmartNode, tmp_path: Path) -> None:
    folder = write(sample(), tmp_path)
    (tmp_path / "refs/head").unlink()
    result = pull(node, None, Creator(tmp_path))
    assert isinstance(result, Updated)
    assert (result.old_head, result.stats.objects_moved, result.stats.objects_present) == (None, 0, 6)
    assert node.points["pull objects"] == 0
    assert folder.head() == sample().head


def test_objects_that_are_there_but_spoilt_are_fetched(node: SmartNode, tmp_path: Path) -> None:
    write(sample(), tmp_path)
    (tmp_path / "refs/head").unlink()
    slice_file = tmp_path / "data" / str(Multihash.sha3_256(SLICE))
    slice_file.write_bytes(b"x" * len(SLICE))
    (tmp_path / "blocks" / str(sample().head)).write_bytes(b"cut off")
    result = pull(node, None, Creator(tmp_path))
    assert isinstance(result, Updated)
    assert result.stats.objects_moved == 1
    assert files(tmp_path) == sample().files()


# A node that lies


class Liar(SmartNode):
    lie: Callable[[list[tuple[Multihash, bytes]]], list[tuple[Multihash, bytes]]]

    def _send(self, connection, outgoing) -> None:  # type: ignore[no-untyped-def]
        super()._send(connection, outgoing)

    def _pull(self, connection, session) -> None:  # type: ignore[no-untyped-def]
        plain = session.send_blocks

        def send_blocks(batch: BlocksBatch) -> object:
            blocks = self.lie([(block.hash, block.data) for block in sample().blocks])
            return plain(BlocksBatch(batch.num_blocks, write_archive(blocks), batch.media_type))

        session.send_blocks = send_blocks
        super()._pull(connection, session)


def swapped(entries: list[tuple[Multihash, bytes]]) -> list[tuple[Multihash, bytes]]:
    return [(entries[0][0], entries[1][1]), *entries[1:]]


def test_lies_about_blocks(tmp_path: Path) -> None:
    lies: list[tuple[Callable, type[OdfError]]] = [  # type: ignore[type-arg]
        (swapped, BlockHashMismatch),
        (lambda entries: entries[:-1], BatchCountMismatch),
        (lambda entries: [entries[0], *entries[2:], entries[1]], PrevBlockNotFound),
    ]
    for lie, error in lies:
        node = Liar(sample())
        node.lie = lie
        with node, pytest.raises(error):
            pull(node, None, Creator(tmp_path))
        assert DatasetFolder(tmp_path).head() is None


def test_a_whole_chain_that_nobody_asked_for(tmp_path: Path) -> None:
    class Whole(SmartNode):
        def interval(self, request: PullRequest):  # type: ignore[no-untyped-def]
            return sample().add_data(1).blocks

    local = write(sample(), tmp_path)
    with Whole(sample().add_data(1)) as node, pytest.raises(UnexpectedMessage):
        pull(node, local)
    assert files(tmp_path) == sample().files()


def test_a_local_head_that_moved_meanwhile(tmp_path: Path) -> None:
    local = write(sample(), tmp_path)
    longer = sample().add_data(1)

    def hook(point: str, times: int) -> None:
        if point == "pull metadata":
            (tmp_path / "refs/head").write_text(str(sample().blocks[0].hash))

    with SmartNode(longer, hook=hook) as node, pytest.raises(LocalHeadMoved):
        pull(node, local)
