"""Errors in the deployed dialect: variant, channel, 123 bytes, and what the client makes of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.chain import InvalidInterval
from odf_core.errors import Conflict, IntegrityError, InternalError, NotFound, OdfError, Unavailable
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.transfer import DEPLOYED, CloseFrame, Phase, TextMessage, messages
from odf_core.transfer.archive import ArchiveTruncated
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.dialects.peer_errors import FAMILIES, peer_error
from odf_core.transfer.errors import (
    BatchCountMismatch,
    BinaryFrame,
    ConnectionLost,
    HeadMoved,
    MalformedMessage,
    MessageTooLarge,
    NameCollision,
    ObjectsMissing,
    PeerFailure,
    PushOutcomeUnknown,
    RefCollision,
    SeedOverwriteRestricted,
    SessionExpired,
    UnexpectedMessage,
)
from odf_core.transfer.messages import Party
from tests.transfer_core.values import DATASET, HEAD, LIMITS, SLICE, TAIL

ANSWERS = [message for message in messages.MESSAGES if message.sender is Party.SERVER]


def told(error: OdfError, awaiting, phase=None):
    """The one outgoing thing, and the error that a waiting client makes of it."""
    (outgoing,) = DEPLOYED.encode_error(error, awaiting, phase)
    if isinstance(outgoing, TextMessage):
        with pytest.raises(OdfError) as raised:
            DEPLOYED.decode(awaiting, outgoing.to_text(), LIMITS)
        return outgoing, raised.value
    assert isinstance(outgoing, CloseFrame)
    assert outgoing.code == 1011
    assert len(outgoing.reason.encode()) <= 123
    assert outgoing.reason == json.dumps(
        json.loads(outgoing.reason), separators=(",", ":"), ensure_ascii=False
    )
    return outgoing, DEPLOYED.close_error(outgoing, awaiting)


def test_invalid_interval_as_text():
    sent, read = told(InvalidInterval(HEAD, TAIL), messages.PULL_RESPONSE)
    assert sent.to_text() == f'{{"Err":{{"InvalidInterval":{{"head":"{HEAD}","tail":"{TAIL}"}}}}}}'
    assert isinstance(read, InvalidInterval)
    assert (read.head, read.tail) == (HEAD, TAIL)


@pytest.mark.parametrize("claimed", [None, TAIL])
@pytest.mark.parametrize("actual", [None, HEAD])
def test_invalid_head_as_text_with_the_names_swapped(claimed, actual):
    sent, read = told(HeadMoved(claimed, actual), messages.PUSH_RESPONSE)
    body = json.loads(sent.to_text())["Err"]["InvalidHead"]
    assert body == {
        "actual_head": None if claimed is None else str(claimed),
        "expected_head": None if actual is None else str(actual),
    }
    assert isinstance(read, HeadMoved)
    assert (read.expected, read.actual) == (claimed, actual)
    assert "None" not in read.message


def test_invalid_head_of_the_fact_page():
    text = (
        '{"Err": {"InvalidHead": {"actual_head": null, "expected_head": '
        '"f1620ddefce8d587c8db124a070a3283ecbca2662225f42350fa2d7dda2c12e3eea69"}}}'
    )
    with pytest.raises(HeadMoved) as raised:
        DEPLOYED.decode(messages.PUSH_RESPONSE, text, LIMITS)
    assert (raised.value.expected, raised.value.actual) == (None, HEAD)


def test_seed_overwrite_in_a_close():
    sent, read = told(SeedOverwriteRestricted(), messages.PUSH_METADATA_RESPONSE)
    assert sent.reason == '{"Err":{"SeedBlockOverwriteRestricted":{}}}'
    assert isinstance(read, SeedOverwriteRestricted)


def test_ref_collision_in_a_close_of_119_bytes():
    sent, read = told(RefCollision(DATASET), messages.PUSH_OBJECTS_RESPONSE)
    assert sent.reason == f'{{"Err":{{"RefCollision":{{"dataset_id":"{DATASET}"}}}}}}'
    assert len(sent.reason) == 119
    assert isinstance(read, RefCollision)
    assert read.dataset_id == DATASET


@pytest.mark.parametrize("length", [1, 71, 72])
def test_name_collision_in_a_close_while_the_alias_fits(length):
    alias = "alice/" + "x" * (length - 1 if length > 1 else 0) + "y"
    sent, read = told(NameCollision(alias), messages.PUSH_OBJECTS_RESPONSE)
    if len(alias) <= 77:
        assert sent.reason == f'{{"Err":{{"NameCollision":{{"dataset_alias":"{alias}"}}}}}}'
        assert isinstance(read, NameCollision)
        assert read.alias == alias
    else:
        assert "Internal" in sent.reason
    assert (read.code, read.family) == ("name_collision", "conflict")


def test_name_collision_with_a_long_alias_keeps_its_code():
    sent, read = told(NameCollision("a" * 39 + "/" + "b" * 100), messages.PUSH_OBJECTS_RESPONSE)
    assert '"Internal"' in sent.reason
    assert (read.code, read.family) == ("name_collision", "conflict")


def test_other_errors_of_the_plan_are_text_in_full():
    error = NotFound("A sentence that is far longer than what a close frame could carry. " * 3)
    sent, read = told(error, messages.PULL_RESPONSE)
    body = json.loads(sent.to_text())["Err"]["Internal"]
    assert body == {
        "phase": {"Pull": "InitialRequest"},
        "error_message": f"not_found: {error.message}",
    }
    assert (read.code, read.family, read.message) == ("not_found", "not_found", error.message)


def test_interval_without_a_head_is_internal():
    sent, read = told(InvalidInterval(None, TAIL), messages.PULL_RESPONSE)
    assert '"Internal"' in sent.to_text()
    assert read.code == "invalid_interval"


@pytest.mark.parametrize("error", [MalformedMessage("No."), MessageTooLarge("No."), BinaryFrame("No.")])
def test_what_is_no_message_is_told_in_a_close(error):
    for awaiting in ANSWERS:
        sent, read = told(error, awaiting)
        assert isinstance(sent, CloseFrame)
        assert (read.code, read.family) == (error.code, error.family)


INTERNAL_PHASES = {
    messages.PULL_METADATA_RESPONSE: {"Pull": "MetadataRequest"},
    messages.PULL_OBJECTS_RESPONSE: {"Pull": "ObjectsRequest"},
    messages.PUSH_RESPONSE: {"Push": "InitialRequest"},
    messages.PUSH_METADATA_RESPONSE: {"Push": "MetadataRequest"},
    messages.PUSH_OBJECTS_RESPONSE: {"Push": "ObjectsRequest"},
    messages.PUSH_PROGRESS_REQUEST: {"Push": "ObjectsUploadProgress"},
    messages.PUSH_CONFIRMED: {"Push": "CompleteRequest"},
}


@pytest.mark.parametrize(("awaiting", "phase"), INTERNAL_PHASES.items(), ids=lambda item: str(item))
def test_everything_else_is_internal_in_a_close(awaiting, phase):
    sent, read = told(InternalError("The node failed."), awaiting)
    assert json.loads(sent.reason) == {
        "Err": {"Internal": {"phase": phase, "error_message": "internal_error: The node failed."}}
    }
    assert (read.code, read.message) == ("internal_error", "The node failed.")
    assert read.extras["phase"] == phase


@pytest.mark.parametrize(
    "error", [ArchiveTruncated("No."), BatchCountMismatch("No."), MalformedMessage("No.")]
)
def test_unreadable_blocks_are_told_under_the_first_phase(error):
    sent, read = told(error, messages.PUSH_METADATA_RESPONSE)
    assert json.loads(sent.reason)["Err"]["Internal"]["phase"] == {"Push": "InitialRequest"}
    assert (read.code, read.family) == (error.code, error.family)


def test_a_phase_can_be_given():
    sent, _ = told(Unavailable("No."), messages.PUSH_OBJECTS_RESPONSE, Phase.PUSH_ENSURING_TARGET)
    assert json.loads(sent.reason)["Err"]["Internal"]["phase"] == {"Push": "EnsuringTargetExists"}


def test_head_moved_at_commit_names_the_whole_head():
    sent, read = told(HeadMoved(TAIL, HEAD), messages.PUSH_CONFIRMED)
    assert json.loads(sent.reason)["Err"]["Internal"]["error_message"] == f"head_moved: {HEAD}"
    assert isinstance(read, HeadMoved)
    assert read.actual == HEAD


def test_head_moved_elsewhere_names_what_fits():
    sent, read = told(HeadMoved(TAIL, HEAD), messages.PUSH_OBJECTS_RESPONSE)
    message = json.loads(sent.reason)["Err"]["Internal"]["error_message"]
    assert message.startswith("head_moved: f1620ddefce8d587c8db124")
    assert message.endswith("…")
    assert isinstance(read, HeadMoved)
    assert read.actual is None
    assert str(HEAD).startswith(read.extras["actual_head_prefix"])
    assert read.extras["actual_head_prefix"] in read.message


def test_head_moved_to_none():
    for awaiting in (messages.PUSH_CONFIRMED, messages.PUSH_OBJECTS_RESPONSE):
        _, read = told(HeadMoved(TAIL, None), awaiting)
        assert isinstance(read, HeadMoved)
        assert read.actual is None
        assert "actual_head_prefix" not in read.extras


def test_a_sentence_too_long_gives_way_to_its_objects():
    error = ObjectsMissing("Several of the objects that the blocks declare are not there.", objects=[SLICE])
    sent, read = told(error, messages.PUSH_CONFIRMED)
    assert "objects_missing: DataSlice f162074fb" in sent.reason
    assert (read.code, read.family) == ("objects_missing", "not_found")


@pytest.mark.parametrize("code", sorted(PEER_CODES))
@pytest.mark.parametrize("awaiting", ANSWERS, ids=str)
def test_every_code_comes_through_every_channel(code, awaiting):
    error = FAMILIES[PEER_CODES[code]]("A rather long sentence that explains what to do about it. " * 2)
    vars(error)["code"] = code
    _, read = told(error, awaiting)
    assert (read.code, read.family) == (code, PEER_CODES[code])
    assert isinstance(read, FAMILIES[PEER_CODES[code]])


nasty = st.text(st.sampled_from('aé…𝄞"\\\n\t\x00\x1f/ \ud800') | st.characters(), max_size=200)


@given(nasty, st.sampled_from(ANSWERS), st.lists(nasty, max_size=3))
def test_reasons_are_whole_json_of_at_most_123_bytes(message, awaiting, objects):
    sent, read = told(IntegrityError(message, objects=objects), awaiting)
    assert (read.code, read.family) == ("integrity_error", "integrity")
    if isinstance(sent, CloseFrame) and awaiting is not messages.PUSH_CONFIRMED:
        assert set(json.loads(sent.reason)["Err"]["Internal"]) == {"phase", "error_message"}


def test_reason_is_filled_to_the_last_byte():
    for char in ("x", "é", "𝄞", '"', "\x01"):
        sent, _ = told(Unavailable(char * 200), messages.PUSH_CONFIRMED)
        width = len(json.dumps(char, ensure_ascii=False).encode()) - 2
        assert 123 - width < len(sent.reason.encode()) <= 123


UNKNOWN = {
    "deployed node's text": (
        '{"Err":{"Internal":{"phase":{"Push":"CompleteRequest"},"error_message":"Internal error"}}}'
    ),
    "no code": '{"Err":{"Internal":{"error_message":"Something broke: badly"}}}',
    "unknown code": '{"Err":{"Internal":{"error_message":"flux_compensator: broke"}}}',
    "no message": '{"Err":{"Internal":{}}}',
    "no body": '{"Err":{"Internal":null}}',
    "unknown variant": '{"Err":{"NotInvented":{"x":1}}}',
    "unit variant": '{"Err":"NotInvented"}',
    "empty": '{"Err":{}}',
    "null": '{"Err":null}',
    "list": '{"Err":[1]}',
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
@pytest.mark.parametrize("awaiting", ANSWERS, ids=str)
def test_errors_of_other_nodes_are_failures(text, awaiting):
    with pytest.raises(PeerFailure):
        DEPLOYED.decode(awaiting, text, LIMITS)
    assert isinstance(DEPLOYED.close_error(CloseFrame(1011, text), awaiting), PeerFailure)


def test_facts_that_are_none_become_a_family_error():
    error = peer_error("head_moved", "The head moved.", extras={"actual_head": "nonsense"})
    assert type(error) is Conflict
    assert error.code == "head_moved"
    assert error.diagnostics()["code"] == "head_moved"
    assert Conflict.code == "conflict"


def test_a_peers_text_is_made_printable_and_bounded():
    error = peer_error("not_found", "a\x1b[31m\nb" + "x" * 100_000, objects=["\x00" * 5000] * 5000)
    assert "\x1b" not in error.message
    assert len(error.message) < 10_000
    assert len(error.objects) == 1000
    assert all(len(item) < 400 for item in error.objects)


CLOSES = {
    "gone": (CloseFrame(1006, ""), ConnectionLost),
    "node restarts": (CloseFrame(1012, ""), ConnectionLost),
    "ended normally": (CloseFrame(1000, ""), ConnectionLost),
    "error without reason": (CloseFrame(1011, ""), ConnectionLost),
    "error with prose": (CloseFrame(1011, "keepalive ping timeout"), ConnectionLost),
    "error with half a JSON": (CloseFrame(1011, '{"Err":{"Internal"'), ConnectionLost),
    "error with JSON of another kind": (CloseFrame(1011, '{"Ok":{}}'), ConnectionLost),
    "JSON under another code": (CloseFrame(1002, '{"Err":{"NameCollision":{}}}'), ConnectionLost),
    "too large": (CloseFrame(1009, "over size limit"), MessageTooLarge),
}


@pytest.mark.parametrize(("frame", "error"), CLOSES.values(), ids=CLOSES.keys())
def test_closes_that_tell_nothing(frame, error):
    for awaiting in ANSWERS:
        read = DEPLOYED.close_error(frame, awaiting)
        assert type(read) is (PushOutcomeUnknown if awaiting is messages.PUSH_CONFIRMED else error)


def test_only_collisions_wait_for_the_next_message():
    at_blocks = messages.PUSH_METADATA_RESPONSE
    assert DEPLOYED.defers(RefCollision(DATASET), at_blocks)
    assert DEPLOYED.defers(NameCollision("a/b"), at_blocks)
    assert not DEPLOYED.defers(SeedOverwriteRestricted(), at_blocks)
    assert not DEPLOYED.defers(SessionExpired("Gone."), at_blocks)
    assert not DEPLOYED.defers(RefCollision(DATASET), messages.PUSH_OBJECTS_RESPONSE)


def test_a_payload_with_the_word_is_no_error():
    ref = ObjectRef(ObjectKind.CHECKPOINT, Multihash.sha3_256(b"Err"), 1)
    text = DEPLOYED.encode(messages.PULL_OBJECTS_REQUEST, messages.model.ObjectsRequest((ref,))).to_text()
    with pytest.raises(UnexpectedMessage):
        DEPLOYED.decode(messages.PULL_RESPONSE, text.replace("{", '{"x":"\\"Err\\"",', 1), LIMITS)
    ok = '{"Ok":{},"note":{"Err":1}}'
    assert DEPLOYED.decode(messages.PUSH_RESPONSE, ok, LIMITS)
