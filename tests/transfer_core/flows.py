"""Both sides of a session in memory, joined by texts alone."""

from collections.abc import Iterable

from odf_core.identity import Multihash, ObjectRef
from odf_core.transfer import (
    BlocksBatch,
    ClientPullSession,
    ClientPushSession,
    CloseFrame,
    Dialect,
    PullRequest,
    PullStrategy,
    PushRequest,
    PushStrategy,
    ServerPullSession,
    ServerPushSession,
    TextMessage,
    TransferPlan,
    TransferUrl,
    write_archive,
)
from tests.transfer_core.values import DATASET, LIMITS

URL = TransferUrl("https://s3.example.org/object?X-Amz-Expires=60")


def batch_of(dialect: Dialect, blocks: list[tuple[Multihash, bytes]]) -> BlocksBatch:
    """The blocks as the dialect packs them."""
    archive = write_archive(blocks, dialect.archive_media_type)
    return BlocksBatch(len(blocks), archive, dialect.archive_media_type)


def plan_of(blocks: list[tuple[Multihash, bytes]]) -> TransferPlan:
    """A plan with the right number of blocks."""
    return TransferPlan(len(blocks), 0, 0, sum(len(data) for _, data in blocks), 0)


def pull_sides(dialect: Dialect) -> tuple[ClientPullSession, ServerPullSession]:
    """A fresh client and server."""
    return ClientPullSession(dialect, LIMITS), ServerPullSession(dialect, LIMITS)


def push_sides(dialect: Dialect) -> tuple[ClientPushSession, ServerPushSession]:
    """A fresh client and server."""
    return ClientPushSession(dialect, LIMITS), ServerPushSession(dialect, LIMITS)


def pull_request() -> PullRequest:
    """A first pull, sayable in both dialects."""
    return PullRequest(DATASET, None)


def push_request(plan: TransferPlan, head: Multihash | None = None) -> PushRequest:
    """A push without force, sayable in both dialects."""
    return PushRequest(DATASET, head, plan)


def downloads(objects: Iterable[ObjectRef]) -> list[PullStrategy]:
    """One strategy for each."""
    return [PullStrategy(ref, URL) for ref in objects]


def uploads(objects: Iterable[ObjectRef]) -> list[PushStrategy]:
    """One strategy for each."""
    return [PushStrategy(ref, URL) for ref in objects]


def carry(message: TextMessage | None) -> str:
    """The text of a message that must have been sent."""
    assert isinstance(message, TextMessage)
    return message.to_text()


def client_error(client, outgoing):
    """What the client makes of a refusal: its first message or close that tells an error."""
    for item in outgoing:
        if isinstance(item, CloseFrame):
            return client.receive_close(item)
        try:
            client.receive_text(item.to_text())
        except Exception as error:
            return error
    raise AssertionError("the client was told nothing")


def to_plan(client, server, blocks):
    """A pull up to the plan."""
    server.receive_text(carry(client.send_request(pull_request())))
    return client.receive_text(carry(server.send_plan(plan_of(blocks))))


def to_blocks(client, server, blocks):
    """A pull up to the blocks."""
    to_plan(client, server, blocks)
    server.receive_text(carry(client.send_metadata_request()))
    return client.receive_text(carry(server.send_blocks(batch_of(server.dialect, blocks))))


def to_accepted(client, server, blocks, head=None):
    """A push up to the accepted plan."""
    server.receive_text(carry(client.send_request(push_request(plan_of(blocks), head))))
    return client.receive_text(carry(server.send_accepted()))


def to_metadata(client, server, blocks, head=None):
    """A push up to the blocks, which the server has not answered yet."""
    to_accepted(client, server, blocks, head)
    return server.receive_text(carry(client.send_blocks(batch_of(client.dialect, blocks))))


def to_uploading(client, server, blocks, objects, *, is_truncated=False, head=None):
    """A push up to the strategies."""
    to_metadata(client, server, blocks, head)
    client.receive_text(carry(server.send_metadata_accepted()))
    server.receive_text(carry(client.send_objects_request(objects, is_truncated=is_truncated)))
    return client.receive_text(carry(server.send_objects(uploads(objects))))


def to_completion(client, server, blocks, head=None):
    """A push without objects up to the completion, which the server has not answered yet."""
    to_uploading(client, server, blocks, [], head=head)
    uploaded = client.send_uploaded()
    if uploaded is not None:
        server.receive_text(carry(uploaded))
    return server.receive_text(carry(client.send_complete()))
