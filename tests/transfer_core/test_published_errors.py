"""Errors in the published dialect: one DatasetError with everything, then a close."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.chain import InvalidInterval
from odf_core.errors import Conflict, IntegrityError, OdfError
from odf_core.transfer import PUBLISHED, CloseFrame, TextMessage, messages
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.dialects.peer_errors import FAMILIES
from odf_core.transfer.errors import (
    ConnectionLost,
    HeadMoved,
    NameCollision,
    ObjectsMissing,
    PeerFailure,
    PushOutcomeUnknown,
    RefCollision,
    SeedOverwriteRestricted,
)
from odf_core.transfer.messages import Party
from tests.transfer_core.values import CHECKPOINT, DATASET, HEAD, LIMITS, SLICE, TAIL

ANSWERS = [message for message in PUBLISHED.codecs if message.sender is Party.SERVER]


def told(error: OdfError, awaiting=messages.PUSH_CONFIRMED):
    """What is sent, and what the client reads from the text and from the close."""
    text, frame = PUBLISHED.encode_error(error, awaiting)
    assert isinstance(text, TextMessage)
    assert isinstance(frame, CloseFrame)
    assert frame.code == 1011
    assert len(frame.reason.encode()) <= 123
    with pytest.raises(OdfError) as raised:
        PUBLISHED.decode(awaiting, text.to_text(), LIMITS)
    return json.loads(text.to_text()), raised.value, PUBLISHED.close_error(frame, awaiting)


def test_head_moved_names_both_heads():
    error = HeadMoved(TAIL, HEAD)
    sent, read, closed = told(error)
    assert sent == {
        "errorDetails": {
            "errorCode": "head_moved",
            "description": error.message,
            "extras": {
                "expectedHead": str(TAIL),
                "actualHead": str(HEAD),
                "family": "conflict",
                "objects": [str(TAIL), str(HEAD)],
            },
        }
    }
    assert isinstance(read, HeadMoved)
    assert (read.expected, read.actual) == (TAIL, HEAD)
    assert (closed.code, closed.family) == ("head_moved", "conflict")


def test_errors_with_facts_come_back_as_themselves():
    for error in (
        InvalidInterval(HEAD, TAIL, CHECKPOINT.hash),
        NameCollision("alice/foo"),
        RefCollision(DATASET),
        SeedOverwriteRestricted(),
    ):
        _, read, _ = told(error)
        assert type(read) is type(error)
        assert read.diagnostics() == error.diagnostics()


def test_objects_are_named():
    _, read, _ = told(ObjectsMissing("Two objects are missing.", objects=[SLICE, CHECKPOINT]))
    assert read.objects == (str(SLICE), str(CHECKPOINT))
    assert read.message == "Two objects are missing."
    assert (read.code, read.family) == ("objects_missing", "not_found")


def test_very_many_objects_are_counted():
    sent, read, _ = told(ObjectsMissing("Many.", objects=[f"object {n}" for n in range(5000)]))
    assert sent["errorDetails"]["extras"]["objectsInTotal"] == 5000
    assert len(read.objects) == 1000
    assert read.extras["objects_in_total"] == 5000


@pytest.mark.parametrize("code", sorted(PEER_CODES))
def test_every_code_comes_through(code):
    family = FAMILIES[PEER_CODES[code]]
    error = family("A sentence.", extras={"rule": 7})
    vars(error)["code"] = code
    _, read, closed = told(error)
    assert (read.code, read.family) == (closed.code, closed.family) == (code, family.family)
    assert isinstance(read, family)


def test_codes_of_later_nodes_keep_their_family():
    class NewLeaf(Conflict):
        pass

    error = NewLeaf("New.")
    vars(error)["code"] = "invented_later"
    _, read, _ = told(error)
    assert isinstance(read, Conflict)
    assert read.code == "invented_later"


@pytest.mark.parametrize("awaiting", ANSWERS, ids=str)
def test_an_error_may_come_at_any_position(awaiting):
    text = '{"errorDetails": {"errorCode": "not_found", "description": "No."}}'
    with pytest.raises(OdfError) as raised:
        PUBLISHED.decode(awaiting, text, LIMITS)
    assert raised.value.code == "not_found"


def test_errors_of_other_nodes():
    text = '{"errorDetails":{"errorCode":"E-17 broken","description":"It broke.","extras":{"x":[1]}}}'
    with pytest.raises(PeerFailure) as raised:
        PUBLISHED.decode(messages.PULL_RESPONSE, text, LIMITS)
    assert "It broke." in raised.value.message
    assert raised.value.extras["peer_code"] == "E-17 broken"


@given(st.text(st.characters() | st.sampled_from('\ud800\x00"\\…'), max_size=300))
def test_any_sentence(message):
    _, read, closed = told(IntegrityError(message, objects=[message], extras={"some_fact": message}))
    assert (read.code, closed.code) == ("integrity_error", "integrity_error")


@pytest.mark.parametrize("reason", ["", "bye", "{}", '{"errorDetails":{"errorCode":"x"}}', '{"Err":{}}'])
def test_closes_that_tell_nothing(reason):
    frame = CloseFrame(1011, reason)
    assert isinstance(PUBLISHED.close_error(frame, messages.PULL_RESPONSE), ConnectionLost)
    assert isinstance(PUBLISHED.close_error(frame, messages.PUSH_CONFIRMED), PushOutcomeUnknown)


def test_nothing_waits_for_the_next_message():
    assert not PUBLISHED.defers(RefCollision(DATASET), messages.PUSH_METADATA_RESPONSE)
