"""Conflicts, and people who may not: heads, names, ids, tokens. Told on their channel, nothing changed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.accounts.service import create_token, revoke_token
from odf_core.transfer.client.uploads import send_objects
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.drivers import OURS, OurDriver, Refusal
from tests.scenarios.refusals import COMPLETE, Attempt
from tests.scenarios.speakers import SPEAKERS, Push, Speaker, WireRefusal
from tests.scenarios.world import NodeWorld, Person, folder_of, served
from tests.scripted.deployed import VERSION
from tests.scripted.http import request
from tests.scripted.websocket import HandshakeRefused, RawWebSocket


@pytest.fixture
def attempt(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> Attempt:
    return Attempt(multi_world, multi_world.person(), speaker, at, foo, tmp_path)


def test_a_head_that_moved_before_the_request(attempt: Attempt) -> None:
    """InvalidHead as text, its fields named the wrong way round as deployed (wire.md 3.5)."""
    attempt.push().run()
    old_head = attempt.good.head
    stale = attempt.push(attempt.good.fork().info("mine")).connect()
    attempt.good.info("theirs, which was faster")
    attempt.push().run()
    current = attempt.good.head
    code = "InvalidHead" if attempt.speaker.name == "deployed" else "head_moved"
    with attempt.refused(code, None, channel="text") as told:
        stale.offer()
    if attempt.speaker.name == "deployed":
        assert told[0].body == {"actual_head": old_head, "expected_head": current}
    else:
        assert told[0].body["extras"]["expectedHead"] == old_head
        assert told[0].body["extras"]["actualHead"] == current


def test_a_head_that_never_was(attempt: Attempt) -> None:
    """Claimed where there is none, and not claimed where there is one."""
    push = attempt.push().connect()
    push.head = attempt.good.head
    code = "InvalidHead" if attempt.speaker.name == "deployed" else "head_moved"
    with attempt.refused(code, None, channel="text"):
        push.offer()
    push = attempt.push().connect()
    push.head, push.chain = None, push.local.chain()
    with attempt.refused(code, None, channel="text"):
        push.offer()


def test_a_head_that_moved_between_request_and_commit(attempt: Attempt) -> None:
    """The deployed close has the code and the node's whole head; the published error has both heads."""
    attempt.push().run()
    old_head = attempt.good.head
    stale = attempt.push(attempt.good.fork().info("mine")).uploaded()
    attempt.good.info("theirs, which was faster")
    attempt.push().run()
    current, before = attempt.good.head, attempt.world.snapshot()["index"]
    with pytest.raises(WireRefusal) as refused:
        stale.complete()
    told = refused.value.told
    assert told.code == "head_moved"
    if attempt.speaker.name == "deployed":
        assert (told.channel, told.message) == ("close", current)
    else:
        assert told.body["extras"]["expectedHead"] == old_head
        assert told.body["extras"]["actualHead"] == current
    attempt.world.settle()
    assert attempt.world.snapshot()["index"] == before
    stored = attempt.world.files(attempt.good.id.multibase)
    assert stored["refs/head"].decode() == current
    attempt.good.info("and on it goes")
    attempt.push().run()
    assert attempt.person.remote(attempt.at).head() == attempt.good.head


@pytest.mark.parametrize("ours", OURS, ids=[driver.name for driver in OURS])
def test_our_client_names_both_heads(
    multi_world: NodeWorld,
    ours: OurDriver,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody else is faster while we upload."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    old_head = foo.head
    mine, theirs = foo.fork().info("mine"), foo.fork().info("theirs")

    def interrupted(*arguments: object, **options: object) -> object:
        served(person, theirs, tmp_path, at)
        return send_objects(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("odf_core.transfer.client.push.send_objects", interrupted)
    with pytest.raises(Refusal, match="head_moved") as refused:
        ours.push(person.remote(at), mine.write(tmp_path / "mine"), foo.id)
    message = str(refused.value.__cause__)
    assert old_head in message
    assert theirs.head in message


def test_a_name_already_taken(attempt: Attempt) -> None:
    """By another dataset of the same account: an ordinary push finds a head where it expects none."""
    attempt.push().run()
    other = root_dataset(f"{attempt.good.chain.name[:20]} other")
    push = attempt.push(other).connect()
    push.head, push.chain = None, push.local.chain()
    attempt.good.info("not disturbed")
    if attempt.speaker.name == "deployed":
        with attempt.refused("InvalidHead", None, channel="text"):
            push.offer()
    else:
        with attempt.refused("dataset_id_mismatch", None):
            push.offer()


@pytest.mark.parametrize(
    ("code", "phase"), [("NameCollision", None), ("name_collision", COMPLETE)], ids=["early", "late"]
)
def test_a_name_taken_meanwhile(attempt: Attempt, code: str, phase: str | None) -> None:
    """Two first pushes under one name; the loser learns it at its objects, or else at the end."""
    slow = attempt.push(root_dataset(f"{attempt.good.chain.name[:20]} other"))
    slow.connect().offer() if phase is None else slow.uploaded()
    attempt.push().run()
    before = attempt.world.snapshot()["index"][:3]
    with pytest.raises(WireRefusal) as refused:
        if phase is None:
            slow.send_blocks()
            slow.negotiate()
        else:
            slow.complete()
    attempt.check(refused.value.told, code if attempt.is_deployed else "name_collision", phase, "close")
    attempt.world.settle()
    assert attempt.world.snapshot()["index"][:3] == before
    attempt.good.info("not disturbed")
    attempt.push().run()


def test_an_id_already_stored_under_another_name(attempt: Attempt) -> None:
    """RefCollision while the deployed client waits for message 6; at the blocks in the published dialect."""
    attempt.push().run()
    elsewhere = attempt.push()
    elsewhere.remote.url += "-elsewhere"
    elsewhere.connect().offer()
    attempt.good.info("not disturbed")
    code = "RefCollision" if attempt.speaker.name == "deployed" else "ref_collision"
    with attempt.refused(code, None) as told:
        elsewhere.send_blocks()
        elsewhere.negotiate()
    assert str(attempt.good.id) in str(told[0].body)
    assert attempt.person.remote(f"{attempt.at}-elsewhere").head() is None


def test_an_id_stored_elsewhere_meanwhile(attempt: Attempt) -> None:
    """Between the blocks and the commit."""
    slow = attempt.push()
    slow.remote.url += "-elsewhere"
    slow.uploaded()
    attempt.push().run()
    attempt.good.info("not disturbed")
    with attempt.refused("ref_collision", COMPLETE):
        slow.complete()


def test_a_published_request_about_another_dataset(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """`datasetId` differs from the addressed dataset's: DatasetError, nothing changed."""
    published = SPEAKERS[1]
    attempt = Attempt(multi_world, multi_world.person(), published, at, foo, tmp_path)
    attempt.push().run()
    other = str(root_dataset("some other dataset").id)
    ws = published.connect(attempt.person.remote(at), "pull")
    with attempt.refused("dataset_id_mismatch", None):
        published.send_pull(ws, other, None)
        published.read_plan(ws)
    attempt.good.info("more")
    push = attempt.push()
    push.dataset_id = other
    push.connect()
    with attempt.refused("dataset_id_mismatch", None):
        push.offer()
    # For a new dataset, whose id is known with its Seed only.
    fresh = Attempt(multi_world, attempt.person, published, f"{at}-new", root_dataset(at), tmp_path)
    push = fresh.push()
    push.dataset_id = other
    push.connect().offer()
    with fresh.refused("dataset_id_mismatch", None):
        push.send_blocks()


UNREADABLE_HEADS = {
    "f1220" + "00" * 32: ("unknown_hash_code",),  # sha2-256 is a hash, but none that blocks have
    "f990120" + "00" * 32: ("unknown_multicodec",),
    "no hash": ("invalid_multihash",),
    "": ("invalid_multihash",),
    "f1620ab": ("invalid_multihash",),
}


def test_unknown_hash_codes_in_requests(attempt: Attempt) -> None:
    for text, codes in UNREADABLE_HEADS.items():
        push = attempt.push().connect()
        push.head, push.chain = text, push.local.chain()
        before = attempt.world.snapshot()
        with pytest.raises(WireRefusal) as refused:
            push.offer()
        assert refused.value.told.code in codes
        attempt.world.settle()
        assert attempt.world.snapshot() == before
    attempt.push().run()


# -- Tokens

DENIALS = {
    "not bearer": ("Basic YWxpY2U6c2VjcmV0", 400, b"Invalid Bearer token header"),
    "no token": ("Bearer ", 400, b"Invalid Bearer token header"),
    "malformed": ("Bearer ka_tooshort", 401, b"Authentication token invalid"),
    "a jwt of another node": ("Bearer eyJhbGciOiJub25lIn0.e30.", 401, b"Authentication token invalid"),
    "mistyped": ("mistyped", 401, b"Authentication token invalid"),
    "expired": ("expired", 401, b"Authentication token expired"),
    "revoked": ("revoked", 401, b"Authentication token invalid"),
}


@pytest.mark.parametrize("what", DENIALS)
def test_tokens_that_do_not_count(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path, what: str
) -> None:
    """401 or 400 before the upgrade, head and body in one, also where anybody may read."""
    person = multi_world.person()
    served(person, foo, tmp_path, at, visibility="Public")
    given, status, body = DENIALS[what]
    header = given if " " in given else f"Bearer {token(person, given)}"
    before = multi_world.snapshot()
    for verb in ("pull", "push"):
        with pytest.raises(HandshakeRefused) as refused:
            RawWebSocket.connect(f"{person.remote(at).url}/{verb}", VERSION | {"Authorization": header})
        assert (refused.value.status, refused.value.body) == (status, body)
    answer = request("GET", f"{person.remote(at).url}/refs/head", {"Authorization": header})
    assert (answer[0], answer[2]) == (status, body)
    assert multi_world.snapshot() == before
    Push(SPEAKERS[0], person.remote(at), str(foo.id), folder_of(foo.info("next"), tmp_path / "next")).run()


def token(person: Person, what: str) -> str:
    node = person.world.node
    if what == "mistyped":
        assert person.token is not None
        return person.token[:-1] + ("A" if person.token[-1] != "A" else "B")
    expires = datetime.now(UTC) - timedelta(seconds=1) if what == "expired" else None
    made = node.run(lambda context: create_token(context.engine, person.name, what, expires_at=expires))
    if what == "revoked":
        node.run(lambda context: revoke_token(context.engine, made.info.id))
    return made.text
