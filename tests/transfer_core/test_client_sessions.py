"""The client's side alone: answers out of turn, answers that lie, connections that end."""

import pytest

from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.transfer import (
    DEPLOYED,
    DIALECTS,
    PUBLISHED,
    ClientPullSession,
    ClientPullState,
    ClientPushSession,
    ClientPushState,
    CloseFrame,
    TransferPlan,
    messages,
)
from odf_core.transfer.errors import (
    BatchCountMismatch,
    ConnectionLost,
    DialectLimitation,
    HeadMoved,
    MalformedMessage,
    MessageTooLarge,
    PeerFailure,
    PushOutcomeUnknown,
    SessionMisuse,
    StrategiesMismatch,
    UnexpectedMessage,
)
from odf_core.transfer.messages import Party
from odf_core.transfer.model import PullRequest, PushRequest
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
    to_blocks,
    to_completion,
    to_metadata,
    to_plan,
    to_uploading,
    uploads,
)
from tests.transfer_core.values import CHECKPOINT, HEAD, LIMITS, SLICE, TAIL, raw_blocks

EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
SAMPLES = {DEPLOYED: deployed.EXACT, PUBLISHED: published.EXACT}
BLOCKS = raw_blocks(4)


def waiting_for_plan(dialect):
    client, _ = pull_sides(dialect)
    client.send_request(pull_request())
    return client


def waiting_for_blocks(dialect):
    client, server = pull_sides(dialect)
    to_plan(client, server, BLOCKS)
    client.send_metadata_request()
    return client


def waiting_for_downloads(dialect, objects=(SLICE, CHECKPOINT)):
    client, server = pull_sides(dialect)
    to_blocks(client, server, BLOCKS)
    client.send_objects_request(objects)
    return client


def waiting_for_acceptance(dialect):
    client, _ = push_sides(dialect)
    client.send_request(push_request(plan_of(BLOCKS)))
    return client


def waiting_for_metadata_acceptance(dialect):
    client, server = push_sides(dialect)
    to_metadata(client, server, BLOCKS)
    return client


def waiting_for_uploads(dialect, objects=(SLICE,)):
    client, server = push_sides(dialect)
    to_metadata(client, server, BLOCKS)
    client.receive_text(carry(server.send_metadata_accepted()))
    client.send_objects_request(objects)
    return client


def waiting_for_confirmation(dialect, head=None):
    client, server = push_sides(dialect)
    to_completion(client, server, BLOCKS, head)
    return client


WAITING = [
    waiting_for_plan,
    waiting_for_blocks,
    waiting_for_downloads,
    waiting_for_acceptance,
    waiting_for_metadata_acceptance,
    waiting_for_uploads,
    waiting_for_confirmation,
]
EACH_WAIT = pytest.mark.parametrize("wait", WAITING, ids=lambda wait: wait.__name__)


@EACH_DIALECT
@EACH_WAIT
def test_answers_out_of_turn_end_the_session(dialect, wait):
    due = wait(dialect).due
    # The deployed peers' answer to the blocks is any object (wire.md 3.1, 7.2).
    lenient = dialect is DEPLOYED and messages.PUSH_METADATA_RESPONSE in due
    for message, _, text in SAMPLES[dialect].values():
        if message in due or text in ("{}", '{"Ok":{}}') or lenient:
            continue
        if message.sender is Party.SERVER and text.startswith('{"Ok":') and dialect is DEPLOYED:
            # Which answer an Ok belongs to is told by its place alone.
            continue
        client = wait(dialect)
        with pytest.raises((UnexpectedMessage, MalformedMessage)):
            client.receive_text(text)
        assert client.state.name == "FAILED"
        with pytest.raises(UnexpectedMessage):
            client.receive_text(text)


@EACH_DIALECT
@EACH_WAIT
@pytest.mark.parametrize("code", [1000, 1001, 1006, 1011, 1012])
def test_a_connection_that_ends(dialect, wait, code):
    client = wait(dialect)
    error = client.receive_close(CloseFrame(code, ""))
    is_committing = wait is waiting_for_confirmation
    assert type(error) is (PushOutcomeUnknown if is_committing else ConnectionLost)
    assert error.family == ("unknown" if is_committing else "unavailable")
    assert client.state.name == "FAILED"


@EACH_DIALECT
def test_a_message_while_none_is_due(dialect):
    for client in (ClientPullSession(dialect, LIMITS), ClientPushSession(dialect, LIMITS)):
        with pytest.raises(UnexpectedMessage):
            client.receive_text('{"x":1}')


def test_an_error_while_none_is_due_is_still_told():
    client, server = push_sides(PUBLISHED)
    to_uploading(client, server, BLOCKS, [SLICE])
    with pytest.raises(OdfError) as raised:
        client.receive_text('{"errorDetails":{"errorCode":"session_expired","description":"Too late."}}')
    assert (raised.value.code, raised.value.family) == ("session_expired", "unavailable")


def test_an_error_at_the_end_is_a_failure_though_any_object_would_do():
    for text in (
        '{"Err":{"Internal":{"phase":{"Push":"CompleteRequest"},"error_message":"Internal error"}}}',
    ):
        client = waiting_for_confirmation(DEPLOYED)
        with pytest.raises(PeerFailure):
            client.receive_text(text)
        frame = CloseFrame(1011, text)
        assert isinstance(waiting_for_confirmation(DEPLOYED).receive_close(frame), PeerFailure)


def test_a_cut_head_is_joined_with_what_the_pusher_knows():
    client = waiting_for_confirmation(DEPLOYED, TAIL)
    reason = (
        '{"Err":{"Internal":{"phase":{"Push":"CompleteRequest"},"error_message":"head_moved: f1620dd…"}}}'
    )
    error = client.receive_close(CloseFrame(1011, reason))
    assert isinstance(error, HeadMoved)
    assert (error.expected, error.actual) == (TAIL, None)
    assert error.extras["actual_head_prefix"] == "f1620dd"


def test_old_peers_accept_blocks_without_a_result():
    client = waiting_for_metadata_acceptance(DEPLOYED)
    client.receive_text("{}")
    assert client.state is ClientPushState.READY


@EACH_DIALECT
def test_a_batch_of_another_count_than_planned(dialect):
    client = waiting_for_blocks(dialect)
    text = dialect.encode(messages.PULL_METADATA_RESPONSE, batch_of(dialect, BLOCKS[:3])).to_text()
    with pytest.raises(BatchCountMismatch):
        client.receive_text(text)
    assert client.state is ClientPullState.FAILED


OTHER = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(b"other"), 5)
SAME_HASH = ObjectRef(ObjectKind.CHECKPOINT, SLICE.hash, SLICE.size)
WRONG_ANSWERS = {
    "none": [],
    "too few": [SLICE],
    "too many": [SLICE, CHECKPOINT, CHECKPOINT],
    "another": [SLICE, OTHER],
    "another kind": [SAME_HASH, CHECKPOINT],
    "one twice": [SLICE, SLICE],
}


@EACH_DIALECT
@pytest.mark.parametrize("answered", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
def test_strategies_for_other_objects(dialect, answered):
    client = waiting_for_downloads(dialect)
    value = messages.model.PullObjects(tuple(downloads(answered)))
    with pytest.raises(StrategiesMismatch):
        client.receive_text(carry(dialect.encode(messages.PULL_OBJECTS_RESPONSE, value)))
    assert client.state is ClientPullState.FAILED
    pusher = waiting_for_uploads(dialect, (SLICE, CHECKPOINT))
    pushed = messages.model.PushObjects(tuple(uploads(answered)))
    with pytest.raises(StrategiesMismatch):
        pusher.receive_text(carry(dialect.encode(messages.PUSH_OBJECTS_RESPONSE, pushed)))
    assert pusher.state is ClientPushState.FAILED


@EACH_DIALECT
def test_twice_requested_and_answered_for_another(dialect):
    client = waiting_for_downloads(dialect, (SLICE, SLICE, CHECKPOINT))
    value = messages.model.PullObjects(tuple(downloads([SLICE, CHECKPOINT, CHECKPOINT])))
    with pytest.raises(StrategiesMismatch):
        client.receive_text(carry(dialect.encode(messages.PULL_OBJECTS_RESPONSE, value)))


@EACH_DIALECT
def test_large_messages_are_read_only_where_much_is_due(dialect):
    limits = Limits(message_bytes=5000, objects_message_bytes=4000, small_message_bytes=3000)
    for wait in WAITING:
        client = wait(dialect)
        client.limits = limits
        much = wait in (waiting_for_blocks, waiting_for_downloads, waiting_for_uploads)
        assert client.max_message_bytes == (5000 if much else 3000)
        with pytest.raises(MessageTooLarge):
            client.receive_text(" " * (client.max_message_bytes + 1))


@EACH_DIALECT
def test_own_messages_out_of_turn_are_misuse(dialect):
    pull = ClientPullSession(dialect, LIMITS)
    for call in (pull.send_metadata_request, pull.finish, lambda: pull.send_objects_request([])):
        with pytest.raises(SessionMisuse):
            call()
    pull.send_request(pull_request())
    with pytest.raises(SessionMisuse):
        pull.send_request(pull_request())
    push = ClientPushSession(dialect, LIMITS)
    for call in (
        push.send_complete,
        push.send_uploaded,
        push.finish,
        lambda: push.send_objects_request([]),
        lambda: push.send_blocks(batch_of(dialect, [])),
    ):
        with pytest.raises(SessionMisuse):
            call()
    assert push.send_progress(1) is None
    assert push.state is ClientPushState.NEW


def test_completing_while_further_objects_are_announced_is_misuse():
    client, server = push_sides(DEPLOYED)
    to_uploading(client, server, BLOCKS, [SLICE], is_truncated=True)
    client.send_uploaded()
    with pytest.raises(SessionMisuse):
        client.send_complete()


def test_asking_again_for_objects_that_were_not_announced_is_misuse():
    client, server = push_sides(DEPLOYED)
    to_uploading(client, server, BLOCKS, [SLICE])
    client.send_uploaded()
    with pytest.raises(SessionMisuse):
        client.send_objects_request([SLICE])


@EACH_DIALECT
def test_sending_another_batch_than_planned(dialect):
    client, server = push_sides(dialect)
    server.receive_text(carry(client.send_request(push_request(plan_of(BLOCKS)))))
    client.receive_text(carry(server.send_accepted()))
    with pytest.raises(BatchCountMismatch):
        client.send_blocks(batch_of(dialect, BLOCKS[:3]))
    assert client.state is ClientPushState.ACCEPTED


def test_what_the_dialect_cannot_say_leaves_the_session_new():
    pull = ClientPullSession(PUBLISHED, LIMITS)
    with pytest.raises(DialectLimitation):
        pull.send_request(PullRequest(None, HEAD))
    assert pull.state is ClientPullState.NEW
    push = ClientPushSession(PUBLISHED, LIMITS)
    with pytest.raises(DialectLimitation):
        push.send_request(PushRequest(None, HEAD, TransferPlan.empty()))
    assert push.state is ClientPushState.NEW
