"""A Smart push and what may befall it: the node's head is the judge."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from odf_core.errors import OdfError
from odf_core.identity import ObjectRef
from odf_core.transfer import ObjectsRequest, Progress, PushRequest, Visibility
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.errors import (
    DatasetsDiverged,
    DestinationAhead,
    IdentityChanged,
    LocalObjectDamaged,
    RemoteReadOnly,
    TransferUrlExpired,
)
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.options import DialectName, TransferOptions
from odf_core.transfer.client.push import SmartPush
from odf_core.transfer.client.results import Updated, UpToDate
from odf_core.transfer.errors import (
    ConnectionLost,
    HeadMoved,
    NameCollision,
    PushOutcomeUnknown,
    SeedOverwriteRestricted,
)
from tests.builders.chain_builder import chain
from tests.client.fake_node import Reply, Seen
from tests.client.local import sample, write
from tests.client.smart_node import Drop, SmartNode
from tests.client.test_pull import EXPIRED, forked, once

OPTIONS = TransferOptions(backoff=0, attempts=3, close_timeout=2, parallelism=4, reply_timeout=20)
ROUNDS = OPTIONS.model_copy(update={"one_round_bytes": 0})


@pytest.fixture(params=list(DialectName))
def options(request: pytest.FixtureRequest) -> TransferOptions:
    return OPTIONS.model_copy(update={"dialect": request.param})


@pytest.fixture
def local(tmp_path: Path) -> DatasetFolder:
    return write(sample(), tmp_path)


@pytest.fixture
def node() -> Iterator[SmartNode]:
    with SmartNode() as node:
        yield node


def push(
    node: SmartNode, local: DatasetFolder, *, options: TransferOptions = OPTIONS, **more: object
) -> object:
    with Http(options) as http:
        address = DatasetAddress(node.url, smart=True)
        return SmartPush(http, address, local, sample().dataset_id, **more).run()  # type: ignore[arg-type]


def test_new_dataset(node: SmartNode, local: DatasetFolder, options: TransferOptions) -> None:
    result = push(node, local, options=options)
    assert isinstance(result, Updated)
    assert (result.old_head, result.new_head, result.num_blocks) == (None, sample().head, 6)
    assert (result.stats.objects_moved, result.stats.bytes_moved) == (
        6,
        sum(len(content) for content in sample().objects.values()),
    )
    assert (node.head, node.objects) == (sample().head, sample().objects)
    assert node.blocks == sample().by_hash()


def test_small_pushes_speak_as_deployed_clients_do(node: SmartNode, local: DatasetFolder) -> None:
    push(node, local, visibility=Visibility.PUBLIC)
    request, _, objects, *_ = node.requests
    assert isinstance(request, PushRequest)
    assert (request.current_head, request.force, request.visibility) == (None, False, Visibility.PUBLIC)
    assert isinstance(objects, ObjectsRequest)
    assert not objects.is_truncated
    assert len(objects.objects) == 6
    node.stop()
    assert node.closes == [(1000, "Client push flow succeeded")]


def test_empty_dataset(node: SmartNode, tmp_path: Path, options: TransferOptions) -> None:
    only_seed = chain("foo").seed()
    result = push(node, write(only_seed, tmp_path), options=options)
    assert isinstance(result, Updated)
    assert result.num_blocks == 1
    assert node.head == only_seed.head


def test_up_to_date(local: DatasetFolder) -> None:
    with SmartNode(sample()) as node:
        assert push(node, local) == UpToDate(sample().head)
        assert node.requests == []


def test_evolved(local: DatasetFolder, tmp_path: Path, options: TransferOptions) -> None:
    base = chain("foo").seed().push_source().schema().add_data(10, content=b"x")
    longer = base.fork().info().add_data(3)
    with SmartNode(base) as node:
        result = push(node, write(longer, tmp_path / "longer"), options=options)
        assert isinstance(result, Updated)
        assert (result.old_head, result.num_blocks) == (base.head, 2)
        assert node.head == longer.head


def test_objects_that_the_node_has_do_not_move(local: DatasetFolder, options: TransferOptions) -> None:
    with SmartNode() as node:
        node.objects.update(sample().objects)
        result = push(node, local, options=options)
    assert isinstance(result, Updated)
    assert (result.stats.objects_moved, result.stats.objects_present) == (0, 6)


@pytest.mark.parametrize("force", [False, True])
def test_diverged(tmp_path: Path, force: bool) -> None:
    ours, theirs = forked()
    local = write(ours, tmp_path)
    with SmartNode(theirs) as node:
        if force:
            result = push(node, local, force=True)
            assert isinstance(result, Updated)
            assert (result.old_head, result.num_blocks) == (theirs.head, 8)
            assert node.head == ours.head
            sent = next(item for item in node.requests if isinstance(item, PushRequest))
            assert sent.force
            assert sent.current_head == theirs.head
            return
        with pytest.raises(DatasetsDiverged) as caught:
            push(node, local)
        assert caught.value.extras["commonAncestor"] == str(sample().head)
        assert (caught.value.extras["localAhead"], caught.value.extras["remoteAhead"]) == (2, 1)
        assert "odf push --force" in caught.value.message
        assert not any(isinstance(item, PushRequest) for item in node.requests)


def test_the_node_is_ahead(local: DatasetFolder) -> None:
    with SmartNode(sample().add_data(1)) as node, pytest.raises(DestinationAhead) as caught:
        push(node, local)
    assert caught.value.extras["remoteAhead"] == 1


def test_another_dataset_under_the_same_name(local: DatasetFolder) -> None:
    with SmartNode(sample("bar")) as node, pytest.raises(IdentityChanged):
        push(node, local)


def test_plain_http_is_read_only(local: DatasetFolder) -> None:
    with Http(OPTIONS) as http, pytest.raises(RemoteReadOnly, match="odf\\+http"):
        SmartPush(http, DatasetAddress("http://h/a/d/", smart=False), local, sample().dataset_id).run()


# Uploads


class Storage(SmartNode):
    faults: list[Reply]
    _lock: threading.Lock

    def upload_script(self, ref: ObjectRef, usual: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
        def script(seen: Seen) -> Reply:
            with self._lock:
                fault = self.faults.pop(0) if self.faults else None
            return fault or usual(seen)

        return script


def storage(faults: list[Reply], **more: object) -> Storage:
    node = Storage(**more)  # type: ignore[arg-type]
    node._lock = threading.Lock()
    node.faults = faults
    return node


def test_expired_urls_are_asked_for_on_the_same_socket(local: DatasetFolder) -> None:
    with storage([EXPIRED, EXPIRED]) as node:
        push(node, local, options=ROUNDS)
        assert (node.points["push request"], node.head) == (1, sample().head)
        truncated = [item.is_truncated for item in node.requests if isinstance(item, ObjectsRequest)]
    assert truncated[0]
    assert truncated.index(False) == len(truncated) - 1


def test_a_small_push_whose_urls_expire_begins_again_with_room_for_it(local: DatasetFolder) -> None:
    with storage([EXPIRED, EXPIRED]) as node:
        push(node, local)
        assert (node.points["push request"], node.head) == (2, sample().head)
        truncated = [item.is_truncated for item in node.requests if isinstance(item, ObjectsRequest)]
    assert truncated[:2] == [False, True]


def test_urls_that_never_work(local: DatasetFolder) -> None:
    with storage([EXPIRED] * 1000) as node, pytest.raises(TransferUrlExpired):
        push(node, local)
    assert node.head is None


def test_expired_urls_in_the_published_dialect(local: DatasetFolder) -> None:
    options = OPTIONS.model_copy(update={"dialect": DialectName.PUBLISHED})
    with storage([EXPIRED]) as node:
        push(node, local, options=options)
        assert (node.points["push request"], node.points["push objects"]) == (1, 2)


def test_an_unavailable_storage(local: DatasetFolder, options: TransferOptions) -> None:
    with storage([Reply(503), Reply(500)]) as node:
        push(node, local, options=options)
        assert node.objects == sample().objects


def test_batches(local: DatasetFolder, options: TransferOptions) -> None:
    many = options.model_copy(update={"objects_per_request": 2})
    with SmartNode() as node:
        push(node, local, options=many)
        assert node.objects == sample().objects
        assert [len(item.objects) for item in node.requests if isinstance(item, ObjectsRequest)][:3] == [
            2,
            2,
            2,
        ]


def test_progress_is_reported(local: DatasetFolder) -> None:
    gate = threading.Event()

    def hook(point: str, times: int) -> None:
        if point == "push urls sent":
            gate.set()

    with storage([], hook=hook) as node:
        plain = node.upload_script

        def slow(ref: ObjectRef, usual: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
            def script(seen: Seen) -> Reply:
                gate.wait(20)
                threading.Event().wait(0.4)
                return plain(ref, usual)(seen)

            return script

        node.upload_script = slow  # type: ignore[method-assign]
        push(node, local)
        reports = [item.uploaded_objects for item in node.requests if isinstance(item, Progress)]
    assert reports[-1] is None
    assert any(count is not None for count in reports)


def test_a_local_file_that_is_not_what_its_block_says(node: SmartNode, local: DatasetFolder) -> None:
    ref = next(iter(sample().objects))
    local.object_path(ref).write_bytes(b"short")
    with pytest.raises(LocalObjectDamaged):
        push(node, local)
    assert node.head is None


# The end of a push


@pytest.mark.parametrize(
    "point", ["push request", "push metadata", "push objects", "push urls sent", "push complete"]
)
def test_a_dropped_socket_is_opened_anew(local: DatasetFolder, point: str, options: TransferOptions) -> None:
    with SmartNode(hook=once(point)) as node:
        result = push(node, local, options=options)
        assert node.head == sample().head
    assert isinstance(result, Updated)
    assert result.num_blocks == 6


def test_a_confirmation_that_was_lost(local: DatasetFolder) -> None:
    with SmartNode(hook=once("push committed")) as node:
        result = push(node, local)
        assert node.points["push request"] == 1
    assert isinstance(result, Updated)
    assert (result.new_head, result.num_blocks) == (sample().head, 6)


def test_an_outcome_that_cannot_be_known(local: DatasetFolder) -> None:
    def hook(point: str, times: int) -> None:
        if point == "push complete" or (point == "refs/head" and times > 1):
            raise Drop

    with SmartNode(hook=hook) as node, pytest.raises(PushOutcomeUnknown):
        push(node, local)


def test_a_socket_that_always_drops(local: DatasetFolder) -> None:
    def hook(point: str, times: int) -> None:
        if point == "push objects":
            raise Drop

    with SmartNode(hook=hook) as node, pytest.raises(ConnectionLost):
        push(node, local)
    assert node.points["push request"] == OPTIONS.session_attempts


def test_a_late_progress_request_is_no_confirmation(local: DatasetFolder) -> None:
    class Late(SmartNode):
        def _commit(self, *args) -> None:  # type: ignore[no-untyped-def]
            self.connection.send("{}")
            threading.Event().wait(0.3)
            super()._commit(*args)

        def _push(self, connection, session) -> None:  # type: ignore[no-untyped-def]
            self.connection = connection
            super()._push(connection, session)

    with Late() as node:
        result = push(node, local)
        assert node.head == sample().head
        assert node.points["refs/head"] == 3
    assert isinstance(result, Updated)


def test_somebody_pushed_on_top_before_we_looked(local: DatasetFolder) -> None:
    def hook(point: str, times: int) -> None:
        if point == "push committed":
            node.load(sample().add_data(1))

    with SmartNode(hook=hook) as node:
        result = push(node, local)
    assert isinstance(result, Updated)
    assert result.new_head == sample().head


def test_a_head_that_moved_meanwhile(local: DatasetFolder) -> None:
    other = sample().add_data(1)

    def hook(point: str, times: int) -> None:
        if point == "push request":
            node.load(other)

    with SmartNode(hook=hook) as node, pytest.raises(HeadMoved) as caught:
        push(node, local)
    assert caught.value.actual == other.head
    assert node.head == other.head


@pytest.mark.parametrize("error", [NameCollision("alice/foo"), SeedOverwriteRestricted()])
def test_refusals_of_the_node(local: DatasetFolder, error: OdfError) -> None:
    class Refusing(SmartNode):
        def _push(self, connection, session) -> None:  # type: ignore[no-untyped-def]
            session.receive_text(connection.recv())
            self._send(connection, session.send_accepted())
            session.receive_text(connection.recv())
            self._fail(connection, session, error)
            if not session.is_failed:
                try:
                    session.receive_text(connection.recv())
                except OdfError as deferred:
                    self._fail(connection, session, deferred)

    with Refusing() as node, pytest.raises(type(error)):
        push(node, local)


def test_urls_that_live_for_a_day(local: DatasetFolder) -> None:
    with SmartNode(url_life=timedelta(days=1)) as node:
        push(node, local)
        assert node.head == sample().head
