"""The node's side alone: what may come when, how large, and how a fault is answered."""

import json

import pytest

from odf_core.errors import OdfError
from odf_core.limits import Limits
from odf_core.transfer import (
    DEPLOYED,
    DIALECTS,
    PUBLISHED,
    CloseFrame,
    Phase,
    ServerPullSession,
    ServerPullState,
    ServerPushSession,
    ServerPushState,
    TransferPlan,
)
from odf_core.transfer.errors import (
    BatchCountMismatch,
    BinaryFrame,
    EmptyPush,
    MalformedMessage,
    MessageTooLarge,
    SessionMisuse,
    TooManyBlocks,
    UnexpectedMessage,
)
from tests.transfer_core import test_deployed_messages as deployed
from tests.transfer_core import test_published_messages as published
from tests.transfer_core.flows import (
    batch_of,
    carry,
    downloads,
    plan_of,
    pull_request,
    pull_sides,
    push_request,
    push_sides,
    to_accepted,
    to_blocks,
    to_completion,
    to_metadata,
    to_plan,
    to_uploading,
    uploads,
)
from tests.transfer_core.values import LIMITS, SLICE, raw_blocks

EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
SAMPLES = {DEPLOYED: deployed.EXACT, PUBLISHED: published.EXACT}
BLOCKS = raw_blocks(4)
_PULL, _PUSH = ServerPullState, ServerPushState


def pull_at(dialect, state: ServerPullState) -> ServerPullSession:
    """A server that came into a state by messages."""
    client, server = pull_sides(dialect)
    if state is _PULL.REQUEST_DUE:
        return server
    if state is _PULL.PLAN_OWED:
        server.receive_text(carry(client.send_request(pull_request())))
    elif state is _PULL.UP_TO_DATE:
        to_plan(client, server, [])
    elif state in (_PULL.METADATA_REQUEST_DUE, _PULL.METADATA_OWED):
        to_plan(client, server, BLOCKS)
        if state is _PULL.METADATA_OWED:
            server.receive_text(carry(client.send_metadata_request()))
    else:
        to_blocks(client, server, BLOCKS)
        if state is _PULL.OBJECTS_OWED:
            server.receive_text(carry(client.send_objects_request([SLICE])))
        elif state is _PULL.FAILED:
            server.fail(EmptyPush("No."))
    assert server.state is state
    return server


def push_at(dialect, state: ServerPushState) -> ServerPushSession:
    """A server that came into a state by messages."""
    client, server = push_sides(dialect)
    if state is _PUSH.ACCEPTANCE_OWED:
        server.receive_text(carry(client.send_request(push_request(plan_of(BLOCKS)))))
    elif state is _PUSH.METADATA_DUE:
        to_accepted(client, server, BLOCKS)
    elif state in (_PUSH.METADATA_ACCEPTANCE_OWED, _PUSH.OBJECTS_REQUEST_DUE, _PUSH.OBJECTS_OWED):
        to_metadata(client, server, BLOCKS)
        if state is not _PUSH.METADATA_ACCEPTANCE_OWED:
            client.receive_text(carry(server.send_metadata_accepted()))
        if state is _PUSH.OBJECTS_OWED:
            server.receive_text(carry(client.send_objects_request([SLICE])))
    elif state in (_PUSH.UPLOADING, _PUSH.COMPLETE_DUE):
        to_uploading(client, server, BLOCKS, [SLICE])
        if state is _PUSH.COMPLETE_DUE:
            server.receive_text(carry(client.send_uploaded()))
    elif state in (_PUSH.CONFIRMATION_OWED, _PUSH.CONFIRMED):
        to_completion(client, server, BLOCKS)
        if state is _PUSH.CONFIRMED:
            server.send_confirmed()
    elif state is _PUSH.FAILED:
        server.fail(EmptyPush("No."))
    assert server.state is state
    return server


def sessions(dialect):
    """Every state of both flows, those of the other dialect left out."""
    for state in _PULL:
        yield lambda state=state: pull_at(dialect, state)
    for state in _PUSH:
        if state is not _PUSH.COMPLETE_DUE or dialect.has_progress:
            yield lambda state=state: push_at(dialect, state)


@EACH_DIALECT
def test_every_message_out_of_turn_is_a_typed_error(dialect):
    """Whatever is sent in whatever state: either it is due, or a typed error and the state stays."""
    for make in sessions(dialect):
        due = make().due
        for message, _, text in SAMPLES[dialect].values():
            session = make()
            before = session.state
            if message in due or (text == "{}" and any(item.name in _EMPTY for item in due)):
                continue
            if any(_looks_like(dialect, message, item) for item in due):
                continue
            with pytest.raises((UnexpectedMessage, MalformedMessage, MessageTooLarge)):
                session.receive_text(text)
            assert session.state is before


def _looks_like(dialect, message, due):
    """Whether both are the same text in different flows: an objects request without its flag."""
    return dialect.codecs[message].markers and dialect.codecs[message].fields == dialect.codecs[due].fields


def test_a_pusher_at_the_address_of_pulls():
    client, _ = push_sides(DEPLOYED)
    text = carry(client.send_request(push_request(plan_of(BLOCKS))))
    with pytest.raises(UnexpectedMessage) as raised:
        ServerPullSession(DEPLOYED, LIMITS).receive_text(text)
    assert "transfer_plan" in raised.value.message


_EMPTY = ("pull_metadata_request", "push_complete")


@EACH_DIALECT
def test_every_state_answers_a_fault_once_and_takes_nothing_afterwards(dialect):
    for make in sessions(dialect):
        session = make()
        was_failed = session.is_failed
        outgoing = session.fail(MalformedMessage("No."))
        assert session.is_failed
        if was_failed:
            assert outgoing == ()
            continue
        last = outgoing[-1]
        assert isinstance(last, CloseFrame)
        assert last.code == 1011
        assert len(last.reason.encode()) <= 123
        assert json.loads(last.reason)
        with pytest.raises(UnexpectedMessage):
            session.receive_text("{}")


@EACH_DIALECT
def test_every_answer_out_of_turn_is_a_misuse(dialect):
    batch = batch_of(dialect, BLOCKS)
    pull_answers = {
        _PULL.PLAN_OWED: lambda session: session.send_plan(TransferPlan.empty()),
        _PULL.METADATA_OWED: lambda session: session.send_blocks(batch),
        _PULL.OBJECTS_OWED: lambda session: session.send_objects(downloads([SLICE])),
    }
    push_answers = {
        _PUSH.ACCEPTANCE_OWED: lambda session: session.send_accepted(),
        _PUSH.METADATA_ACCEPTANCE_OWED: lambda session: session.send_metadata_accepted(),
        _PUSH.OBJECTS_OWED: lambda session: session.send_objects(uploads([SLICE])),
        _PUSH.CONFIRMATION_OWED: lambda session: session.send_confirmed(),
    }
    for make in sessions(dialect):
        answers = pull_answers if isinstance(make(), ServerPullSession) else push_answers
        for state, answer in answers.items():
            session = make()
            if session.state is not state:
                with pytest.raises((SessionMisuse, BatchCountMismatch)):
                    answer(session)


SIZES = Limits(message_bytes=5000, objects_message_bytes=4000, small_message_bytes=3000)


@EACH_DIALECT
def test_large_messages_are_read_only_where_much_is_due(dialect):
    large = {_PUSH.METADATA_DUE}
    lists = {_PUSH.OBJECTS_REQUEST_DUE, _PULL.OBJECTS_REQUEST_DUE}
    if not dialect.has_progress:
        lists.add(_PUSH.UPLOADING)
    for make in sessions(dialect):
        session = make()
        session.limits = SIZES
        expected = 5000 if session.state in large else 4000 if session.state in lists else 3000
        assert session.max_message_bytes == expected
        for text in ("x" * (expected + 1), b"x" * (expected + 1)):
            with pytest.raises(MessageTooLarge):
                session.receive_text(text)


def test_a_message_of_200_mb_is_refused_by_its_length():
    session = ServerPullSession(DEPLOYED, LIMITS)
    with pytest.raises(MessageTooLarge):
        session.receive_text(b"[" * 200_000_000)
    (frame,) = session.fail(MessageTooLarge("Too large."))
    assert "message_too_large" in frame.reason


def test_binary_messages_are_refused():
    with pytest.raises(BinaryFrame):
        ServerPullSession(DEPLOYED, LIMITS).receive_binary(b"\x00")


PHASES = {
    _PUSH.REQUEST_DUE: Phase.PUSH_INITIAL,
    _PUSH.METADATA_DUE: Phase.PUSH_METADATA,
    _PUSH.OBJECTS_OWED: Phase.PUSH_OBJECTS,
    _PUSH.UPLOADING: Phase.PUSH_UPLOADS,
    _PUSH.CONFIRMATION_OWED: Phase.PUSH_COMPLETE,
}


@pytest.mark.parametrize(("state", "phase"), PHASES.items(), ids=lambda item: item.name)
def test_a_session_knows_its_phase(state, phase):
    assert push_at(DEPLOYED, state).phase is phase


@EACH_DIALECT
def test_a_push_of_nothing(dialect):
    client, server = push_sides(dialect)
    with pytest.raises(EmptyPush):
        server.receive_text(carry(client.send_request(push_request(TransferPlan.empty()))))
    assert server.fail(EmptyPush("No."))


@EACH_DIALECT
def test_a_push_of_more_blocks_than_are_taken(dialect):
    client, _ = push_sides(dialect)
    server = ServerPushSession(dialect, Limits(archive_entries=3))
    with pytest.raises(TooManyBlocks):
        server.receive_text(carry(client.send_request(push_request(plan_of(BLOCKS)))))


@EACH_DIALECT
def test_plan_and_batch_must_agree(dialect):
    for count in (3, 5):
        client, server = push_sides(dialect)
        to_accepted(client, server, raw_blocks(count))
        client, _ = push_sides(dialect)
        client.send_request(push_request(plan_of(BLOCKS)))
        client.receive_text(carry(push_at(dialect, _PUSH.ACCEPTANCE_OWED).send_accepted()))
        with pytest.raises(BatchCountMismatch):
            server.receive_text(carry(client.send_blocks(batch_of(dialect, BLOCKS))))


@EACH_DIALECT
def test_the_node_cannot_send_another_batch_than_planned(dialect):
    session = pull_at(dialect, _PULL.METADATA_OWED)
    with pytest.raises(BatchCountMismatch):
        session.send_blocks(batch_of(dialect, BLOCKS[:3]))
    with pytest.raises(BatchCountMismatch):
        session.sent_blocks(5)
    assert session.state is _PULL.METADATA_OWED


def test_errors_of_a_session_are_ours():
    assert issubclass(SessionMisuse, OdfError)
