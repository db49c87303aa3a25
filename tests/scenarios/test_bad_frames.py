"""Frames that are no messages, at every point of both sessions.

Input that cannot be read as a message: Close 1011 with a compact error where the peer waits for a reply,
then the end of the connection; never a hang (decisions of wire-published.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.refusals import COMPLETE, INITIAL, METADATA, OBJECTS, UPLOADS, Attempt
from tests.scenarios.speakers import Push, Speaker, WireRefusal
from tests.scenarios.world import NodeWorld, served, wait_until
from tests.scripted.websocket import BINARY, CONTINUATION, PING, PONG, TEXT, Closed, PeerFault, RawWebSocket

Fault = Callable[[RawWebSocket], None]
TWO_HUNDRED_MEGABYTES = 200_000_000
SENT_OF_THEM = 3 << 20


@dataclass(frozen=True)
class Point:
    """Where a push stands, and the phase under which the deployed dialect tells a fault there."""

    name: str
    phase: str
    reach: Callable[[Push], object]


POINTS = (
    Point("request", INITIAL, lambda push: push.connect()),
    Point("blocks", INITIAL, lambda push: push.connect().offer()),
    Point("objects", OBJECTS, lambda push: push.prepare()),
    Point("uploads", UPLOADS, lambda push: push.prepare().negotiate()),
    Point("complete", COMPLETE, lambda push: push.uploaded()),
)


def no_json(ws: RawWebSocket) -> None:
    ws.send_text('{"current_head": nul')


def no_object(ws: RawWebSocket) -> None:
    ws.send_json(["not", "an", "object"])


def deep_nesting(ws: RawWebSocket) -> None:
    ws.send_text("[" * 100_000)


def no_utf8(ws: RawWebSocket) -> None:
    ws.send_frame(TEXT, b'{"a":"\xff\xfe"}')


def binary(ws: RawWebSocket) -> None:
    ws.send_frame(BINARY, b"{}")


def ping(ws: RawWebSocket) -> None:
    ws.send_frame(PING, b"are you there")


def pong(ws: RawWebSocket) -> None:
    ws.send_frame(PONG, b"")


def far_too_large(ws: RawWebSocket) -> None:
    """The head of a message of 200 MB, and some megabytes of it."""
    _send_while_read(ws, RawWebSocket.frame_head(TEXT, TWO_HUNDRED_MEGABYTES) + b"{" * SENT_OF_THEM)


def far_too_large_in_fragments(ws: RawWebSocket) -> None:
    """The same in frames of one megabyte each, without an end."""
    first, more = (RawWebSocket.frame_head(code, 1 << 20, fin=False) for code in (TEXT, CONTINUATION))
    for index in range(100):
        if not _send_while_read(ws, (more if index else first) + bytes(1 << 20)):
            return


def _send_while_read(ws: RawWebSocket, data: bytes) -> bool:
    """False once the node has ended the connection."""
    try:
        ws.sock.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


FAULTS: dict[str, tuple[Fault, ...]] = {
    "malformed_message": (no_json, no_object, deep_nesting),
    "binary_frame": (binary,),
    "control_frame": (ping, pong),
    "message_too_large": (far_too_large,),
}


@pytest.fixture
def attempt(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> Attempt:
    return Attempt(multi_world, multi_world.person(), speaker, at, foo, tmp_path)


@pytest.mark.parametrize("point", POINTS, ids=[point.name for point in POINTS])
@pytest.mark.parametrize(
    ("code", "fault"),
    [pytest.param(code, fault, id=fault.__name__) for code, faults in FAULTS.items() for fault in faults],
)
def test_a_fault_within_a_push(attempt: Attempt, code: str, fault: Fault, point: Point) -> None:
    push = attempt.push()
    point.reach(push)
    # Where published uploads run, the end of the push is what the client waits for.
    with attempt.refused(code, point.phase):
        fault(push.ws)
        answer_of_a_fault(attempt.speaker, push.ws)


def answer_of_a_fault(speaker: Speaker, ws: RawWebSocket) -> None:
    """The next message; a Pong before it is the library's, and the client that pings knows it."""
    try:
        speaker.read(ws)
    except PeerFault as fault:
        assert "Pong" in str(fault)
        speaker.read(ws)


@pytest.mark.parametrize("fault", [no_json, binary, ping, far_too_large], ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_a_fault_within_a_pull(
    multi_world: NodeWorld,
    speaker: Speaker,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    fault: Fault,
    steps: int,
) -> None:
    """After the handshake, the plan, the blocks, the objects; told, and the session ends."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    ws = speaker.connect(person.remote(at), "pull")
    if steps > 0:
        speaker.send_pull(ws, str(foo.id), None)
        speaker.read_plan(ws)
    if steps > 1:
        ws.send_json({})
        blocks = speaker.read_blocks(ws)
    if steps > 2:
        speaker.send_pull_objects(ws, [])
        speaker.read_downloads(ws)
    code = next(code for code, faults in FAULTS.items() if fault in faults)
    with pytest.raises(WireRefusal) as refused:
        fault(ws)
        answer_of_a_fault(speaker, ws)
    told = refused.value.told
    assert told.code == code
    if speaker.name == "deployed":
        phase = {0: INITIAL, 1: METADATA}.get(steps, OBJECTS)
        assert (told.channel, told.phase) == ("close", phase)
    wait_until(lambda: multi_world.sessions() == 0, "the session did not end")
    ws = speaker.connect(person.remote(at), "pull")
    speaker.send_pull(ws, str(foo.id), foo.head)
    assert speaker.read_plan(ws) == 0
    ws.send_close(1000)
    assert steps < 2 or len(blocks) == 4


@pytest.mark.parametrize("fault", [no_utf8, far_too_large_in_fragments], ids=lambda fault: fault.__name__)
def test_a_fault_of_the_frames_themselves(attempt: Attempt, fault: Fault) -> None:
    """What breaks RFC 6455 itself may be told in its own words (1007, 1009), or ours; it never hangs."""
    before = attempt.world.snapshot()
    push = attempt.push().connect()
    fault(push.ws)
    with pytest.raises((WireRefusal, Closed, ConnectionError)):
        answer_of_a_fault(attempt.speaker, push.ws)
    push.ws.drop()
    attempt.world.settle()
    assert attempt.world.snapshot() == before
    attempt.push().run()
    assert attempt.person.remote(attempt.at).head() == attempt.good.head


def test_a_message_out_of_turn(attempt: Attempt) -> None:
    """`complete` where objects are due, in the deployed dialect; blocks where the request is due, in both."""
    push = attempt.push().connect()
    with attempt.refused("unexpected_message", INITIAL):
        push.send_blocks()
    attempt.good.info("one more")
    push = attempt.push().prepare()
    if attempt.speaker.name == "deployed":
        with attempt.refused("malformed_message", OBJECTS):
            push.complete()


def test_more_after_the_end(attempt: Attempt) -> None:
    """What a client sends after its push was confirmed is read by nobody and does no harm."""
    push = attempt.push().uploaded()
    push.ws.send_json({})
    assert attempt.speaker.read(push.ws) == {}
    for _ in range(20):
        if not _send_while_read(push.ws, RawWebSocket.frame_head(TEXT, 2) + b"{}"):
            break
    push.ws.drop()
    attempt.world.settle()
    assert attempt.person.remote(attempt.at).head() == attempt.good.head


def test_the_memory_of_a_large_message(attempt: Attempt) -> None:
    """A message over the limit of its point is refused from its head on, not after it was read."""
    push = attempt.push().connect()
    limit = attempt.world.node.settings.limits.small_message_bytes
    with attempt.refused("message_too_large", INITIAL):
        push.ws.sock.sendall(RawWebSocket.frame_head(TEXT, limit + 1) + b"{")
        attempt.speaker.read(push.ws)
