"""Whole pulls and pushes, client and server joined in memory, in both dialects."""

import pytest

from odf_core.chain import InvalidInterval
from odf_core.errors import IntegrityError, NotFound
from odf_core.transfer import (
    DEPLOYED,
    DIALECTS,
    PUBLISHED,
    ClientPullState,
    ClientPushState,
    CloseFrame,
    Phase,
    ServerPullState,
    ServerPushState,
    TransferPlan,
    messages,
    read_batch,
)
from odf_core.transfer.errors import (
    HeadMoved,
    NameCollision,
    ObjectsMissing,
    RefCollision,
    SeedOverwriteRestricted,
)
from odf_core.transfer.model import (
    MetadataAccepted,
    MetadataRequest,
    ObjectsRequest,
    Progress,
    ProgressRequest,
    PushAccepted,
    PushComplete,
    PushConfirmed,
)
from tests.transfer_core.flows import (
    URL,
    batch_of,
    carry,
    client_error,
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
from tests.transfer_core.values import (
    CHECKPOINT,
    DATASET,
    HEAD,
    LIMITS,
    SLICE,
    TAIL,
    raw_blocks,
    without_size,
)

EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
BLOCKS = raw_blocks(4)
OBJECTS = [SLICE, CHECKPOINT, CHECKPOINT]


@EACH_DIALECT
def test_pull(dialect):
    client, server = pull_sides(dialect)
    assert server.receive_text(carry(client.send_request(pull_request()))).begin_after is None
    plan = client.receive_text(carry(server.send_plan(plan_of(BLOCKS))))
    assert plan.num_blocks == 4
    assert server.receive_text(carry(client.send_metadata_request())) == MetadataRequest()
    batch = client.receive_text(carry(server.send_blocks(batch_of(dialect, BLOCKS))))
    assert list(read_batch(batch, LIMITS)) == BLOCKS
    # The same objects may be asked for again: URLs expire.
    for _ in range(2):
        asked = server.receive_text(carry(client.send_objects_request(OBJECTS)))
        assert [ref.hash for ref in asked.objects] == [ref.hash for ref in OBJECTS]
        answer = client.receive_text(carry(server.send_objects(downloads(reversed(asked.objects)))))
        # In the order of the request and with the sizes that this side knows.
        assert [strategy.object for strategy in answer.strategies] == OBJECTS
    assert client.finish() == CloseFrame(1000, "Client pull flow succeeded")
    assert client.state is ClientPullState.FINISHED
    assert server.state is ServerPullState.OBJECTS_REQUEST_DUE


@EACH_DIALECT
def test_pull_that_is_up_to_date(dialect):
    client, server = pull_sides(dialect)
    assert to_plan(client, server, []).num_blocks == 0
    assert server.state is ServerPullState.UP_TO_DATE
    assert client.finish().code == 1000


@EACH_DIALECT
def test_pull_without_objects(dialect):
    client, server = pull_sides(dialect)
    to_blocks(client, server, BLOCKS[:1])
    assert client.finish().code == 1000


@EACH_DIALECT
def test_pull_of_an_archive_encoded_before(dialect):
    client, server = pull_sides(dialect)
    to_plan(client, server, BLOCKS)
    server.receive_text(carry(client.send_metadata_request()))
    kept = dialect.encode(messages.PULL_METADATA_RESPONSE, batch_of(dialect, BLOCKS)).to_bytes()
    server.sent_blocks(4)
    assert list(read_batch(client.receive_text(kept), LIMITS)) == BLOCKS
    assert server.receive_text(carry(client.send_objects_request([SLICE])))


@EACH_DIALECT
def test_push(dialect):
    client, server = push_sides(dialect)
    request = server.receive_text(carry(client.send_request(push_request(plan_of(BLOCKS), HEAD))))
    assert request.current_head == HEAD
    assert client.receive_text(carry(server.send_accepted())) == PushAccepted()
    batch = server.receive_text(carry(client.send_blocks(batch_of(dialect, BLOCKS))))
    assert list(read_batch(batch, LIMITS)) == BLOCKS
    assert client.receive_text(carry(server.send_metadata_accepted())) == MetadataAccepted()
    asked = server.receive_text(carry(client.send_objects_request(OBJECTS)))
    assert isinstance(asked, ObjectsRequest)
    answer = client.receive_text(carry(server.send_objects(uploads(asked.objects))))
    assert [strategy.object for strategy in answer.strategies] == OBJECTS
    assert all(strategy.upload_to == URL for strategy in answer.strategies)
    uploaded = client.send_uploaded()
    assert (uploaded is not None) == dialect.has_progress
    if uploaded is not None:
        assert server.receive_text(carry(uploaded)).is_complete
    assert server.receive_text(carry(client.send_complete())) == PushComplete()
    assert client.receive_text(carry(server.send_confirmed())) == PushConfirmed()
    assert client.finish() == CloseFrame(1000, "Client push flow succeeded")
    assert (client.state, server.state) == (ClientPushState.FINISHED, ServerPushState.CONFIRMED)
    assert client.receive_close(CloseFrame(1006, "")) is None


def test_progress_is_asked_and_told_in_the_deployed_dialect():
    client, server = push_sides(DEPLOYED)
    to_uploading(client, server, BLOCKS, OBJECTS)
    for count in (0, 2):
        assert client.receive_text(carry(server.send_progress_request())) == ProgressRequest()
        assert server.receive_text(carry(client.send_progress(count))) == Progress(count)
    assert server.state is ServerPushState.UPLOADING
    late_question, late_answer = carry(server.send_progress_request()), carry(client.send_progress(3))
    assert server.receive_text(carry(client.send_uploaded())).is_complete
    # What crossed the end of the uploads is neither answered nor taken for something else.
    assert client.receive_text(late_question) == ProgressRequest()
    assert client.send_progress(3) is None
    assert server.receive_text(late_answer) == Progress(3)
    assert server.send_progress_request() is None
    assert server.state is ServerPushState.COMPLETE_DUE
    assert server.receive_text(carry(client.send_complete())) == PushComplete()


def test_truncated_requests_go_round_in_the_deployed_dialect():
    client, server = push_sides(DEPLOYED)
    to_uploading(client, server, BLOCKS, [SLICE], is_truncated=True)
    late_question = carry(server.send_progress_request())
    server.receive_text(carry(client.send_uploaded()))
    assert server.state is ServerPushState.OBJECTS_REQUEST_DUE
    assert client.can_request_objects
    text = carry(client.send_objects_request([CHECKPOINT]))
    # A question from the round before may arrive where the strategies are due.
    assert client.receive_text(late_question) == ProgressRequest()
    assert client.state is ClientPushState.OBJECTS_DUE
    asked = server.receive_text(text)
    answer = client.receive_text(carry(server.send_objects(uploads(asked.objects))))
    assert [strategy.object for strategy in answer.strategies] == [CHECKPOINT]
    server.receive_text(carry(client.send_uploaded()))
    assert not client.can_request_objects
    assert server.receive_text(carry(client.send_complete())) == PushComplete()


def test_published_objects_may_be_asked_for_again_while_uploads_run():
    client, server = push_sides(PUBLISHED)
    to_uploading(client, server, BLOCKS, OBJECTS)
    assert server.send_progress_request() is None
    assert client.send_progress(1) is None
    assert client.can_request_objects
    asked = server.receive_text(carry(client.send_objects_request([SLICE])))
    assert asked.objects == (without_size(SLICE),)
    client.receive_text(carry(server.send_objects(uploads(asked.objects))))
    assert client.send_uploaded() is None
    assert client.can_request_objects
    assert server.receive_text(carry(client.send_complete())) == PushComplete()


def test_published_push_may_have_no_objects_request_at_all():
    client, server = push_sides(PUBLISHED)
    to_metadata(client, server, BLOCKS)
    server.send_metadata_accepted()
    assert server.receive_text("{}") == PushComplete()


@EACH_DIALECT
def test_pull_of_an_interval_that_is_none(dialect):
    client, server = pull_sides(dialect)
    server.receive_text(carry(client.send_request(pull_request())))
    error = client_error(client, server.fail(InvalidInterval(HEAD, TAIL)))
    assert isinstance(error, InvalidInterval)
    assert (error.head, error.tail) == (HEAD, TAIL)
    assert server.is_failed
    assert client.state is ClientPullState.FAILED


@EACH_DIALECT
def test_pull_of_objects_that_are_missing(dialect):
    client, server = pull_sides(dialect)
    to_blocks(client, server, BLOCKS)
    server.receive_text(carry(client.send_objects_request([SLICE])))
    error = client_error(client, server.fail(ObjectsMissing("Not here.", objects=[SLICE])))
    assert isinstance(error, NotFound)
    assert error.code == "objects_missing"


@EACH_DIALECT
@pytest.mark.parametrize("claimed", [None, TAIL])
def test_push_on_a_head_that_moved(dialect, claimed):
    client, server = push_sides(dialect)
    server.receive_text(carry(client.send_request(push_request(plan_of(BLOCKS), claimed))))
    error = client_error(client, server.fail(HeadMoved(claimed, HEAD)))
    assert isinstance(error, HeadMoved)
    assert (error.expected, error.actual) == (claimed, HEAD)


@EACH_DIALECT
def test_push_that_loses_the_race_names_both_heads(dialect):
    client, server = push_sides(dialect)
    to_completion(client, server, BLOCKS, head=TAIL)
    error = client_error(client, server.fail(HeadMoved(TAIL, HEAD)))
    assert isinstance(error, HeadMoved)
    assert (error.expected, error.actual) == (TAIL, HEAD)
    assert error.objects == (str(TAIL), str(HEAD))


@EACH_DIALECT
def test_push_refused_at_commit(dialect):
    client, server = push_sides(dialect)
    to_completion(client, server, BLOCKS)
    error = client_error(
        client, server.fail(IntegrityError("The slice is not what it says.", objects=[SLICE]))
    )
    assert isinstance(error, IntegrityError)
    assert error.code == "integrity_error"


@EACH_DIALECT
def test_push_that_would_change_the_seed(dialect):
    client, server = push_sides(dialect)
    to_metadata(client, server, BLOCKS)
    assert isinstance(client_error(client, server.fail(SeedOverwriteRestricted())), SeedOverwriteRestricted)


@EACH_DIALECT
@pytest.mark.parametrize("error", [NameCollision("alice/foo"), RefCollision(DATASET)], ids=lambda e: e.code)
def test_push_that_collides(dialect, error):
    """A deployed client can read a collision only where the strategies are due (wire.md 3.5)."""
    client, server = push_sides(dialect)
    to_metadata(client, server, BLOCKS)
    outgoing = server.fail(error)
    if dialect is DEPLOYED:
        (accepted,) = outgoing
        assert carry(accepted) == '{"Ok":{}}'
        assert not server.is_failed
        assert client.receive_text(carry(accepted)) == MetadataAccepted()
        with pytest.raises(type(error)) as raised:
            server.receive_text(carry(client.send_objects_request(OBJECTS)))
        assert raised.value is error
        outgoing = server.fail(raised.value)
    told = client_error(client, outgoing)
    assert type(told) is type(error)
    assert told.objects == error.objects
    assert server.is_failed


def test_a_collision_before_the_blocks_came_is_not_put_off():
    client, server = push_sides(DEPLOYED)
    to_accepted(client, server, BLOCKS)
    told = client_error(client, server.fail(NameCollision("alice/foo")))
    assert told.code == "name_collision"
    assert server.is_failed


@EACH_DIALECT
def test_nothing_is_said_twice(dialect):
    _, server = push_sides(dialect)
    assert server.fail(NotFound("No."))
    assert server.fail(NotFound("No.")) == ()


def test_a_phase_of_the_server_is_told():
    client, server = push_sides(DEPLOYED)
    to_metadata(client, server, BLOCKS)
    (frame,) = server.fail(NotFound("No."), Phase.PUSH_ENSURING_TARGET)
    assert "EnsuringTargetExists" in frame.reason


def test_a_prefix_is_planned_and_sent():
    """A node may answer with the older part of an interval; plan and batch agree (wire.md 5)."""
    client, server = pull_sides(DEPLOYED)
    assert to_blocks(client, server, BLOCKS[:2]).num_blocks == 2
    assert client.finish().code == 1000
    assert TransferPlan.empty().num_blocks == 0
