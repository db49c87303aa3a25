"""Many objects: batches of URLs, expiry, failures."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.transfer.client.dispatch import Dispatcher, Ticket, use_before
from odf_core.transfer.client.download import Stopped, UrlExpired
from odf_core.transfer.client.errors import DownloadMismatch, TransferUrlExpired, UnexpectedAnswer
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.progress import SILENT

REFS = [ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(b"%d" % n), 1) for n in range(50)]
EXPIRED = UrlExpired(TransferUrlExpired("The storage refuses.", objects=["o"]))


class Asker:
    def __init__(self) -> None:
        self.batches: list[list[ObjectRef]] = []

    def __call__(self, refs: Sequence[ObjectRef]) -> dict[ObjectRef, Ticket]:
        self.batches.append(list(refs))
        return {ref: Ticket(url=f"u{len(self.batches)}") for ref in refs}


def dispatcher(ask, move, **options) -> Dispatcher:  # type: ignore[no-untyped-def]
    settings = TransferOptions(objects_per_request=20, renewals=2)
    return Dispatcher(settings, SILENT, ask, move, parallelism=4, **options)


def test_every_object_moves_once_in_batches() -> None:
    ask, moved = Asker(), []

    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        moved.append(ref)
        return 3

    stats = dispatcher(ask, move).run([*REFS, REFS[0]])
    assert sorted(map(str, moved)) == sorted(map(str, REFS))
    assert [len(batch) for batch in ask.batches] == [20, 20, 10]
    assert (stats.objects_moved, stats.bytes_moved, stats.objects_present) == (50, 150, 0)


def test_objects_that_are_there_do_not_move() -> None:
    stats = dispatcher(lambda refs: dict.fromkeys(refs, Ticket(None)), None).run(REFS)
    assert (stats.objects_moved, stats.objects_present) == (0, 50)


def test_expired_urls_are_asked_for_again() -> None:
    ask = Asker()

    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        if ref is REFS[3] and ticket.url == "u1":
            raise EXPIRED
        return 1

    stats = dispatcher(ask, move).run(REFS)
    assert stats.objects_moved == 50
    assert sum(batch.count(REFS[3]) for batch in ask.batches) == 2


def test_urls_about_to_expire_are_not_used() -> None:
    ask, used = Asker(), []
    past = datetime.now(UTC) - timedelta(seconds=1)

    def tickets(refs: Sequence[ObjectRef]) -> dict[ObjectRef, Ticket]:
        asked = ask(refs)
        return {ref: Ticket(t.url, {}, past if len(ask.batches) == 1 else None) for ref, t in asked.items()}

    dispatcher(tickets, lambda ref, ticket, stop: used.append(ticket.url) or 0).run(REFS[:5])
    assert used == ["u2"] * 5


def test_expiry_without_end_is_an_error() -> None:
    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        raise EXPIRED

    with pytest.raises(TransferUrlExpired):
        dispatcher(Asker(), move).run(REFS)


def test_expiry_is_an_error_where_nobody_can_be_asked() -> None:
    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        raise EXPIRED

    ask = Asker()
    with pytest.raises(TransferUrlExpired):
        dispatcher(ask, move, ask_again=False).run(REFS[:2])
    assert len(ask.batches) == 1


def test_the_first_failure_ends_the_others() -> None:
    failing, ended = threading.Event(), []

    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        if ref is REFS[1]:
            failing.wait(20)
            raise DownloadMismatch("Wrong.", objects=[ref.hash])
        failing.set()
        assert stop.wait(20)
        ended.append(ref)
        raise Stopped

    with pytest.raises(DownloadMismatch):
        dispatcher(Asker(), move).run(REFS)
    assert 1 <= len(ended) <= 4


def test_a_peer_that_leaves_objects_out() -> None:
    with pytest.raises(UnexpectedAnswer, match="no URLs for 1"):
        dispatcher(lambda refs: {ref: Ticket("u") for ref in refs[1:]}, lambda *_: 0).run(REFS[:3])


def test_poll_may_end_the_transfer() -> None:
    def poll() -> None:
        raise UnexpectedAnswer("gone")

    stopped = threading.Event()

    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        stop.wait(20)
        stopped.set()
        raise Stopped

    with pytest.raises(UnexpectedAnswer):
        dispatcher(Asker(), move, poll=poll).run(REFS)
    assert stopped.is_set()


def test_expiry_by_a_clock_that_is_wrong_says_nothing() -> None:
    now = datetime.now(UTC)
    assert use_before(None, now, 5) is None
    assert use_before(now - timedelta(hours=1), now, 5) is None
    assert use_before(now + timedelta(seconds=60), now, 5) == now + timedelta(seconds=55)
