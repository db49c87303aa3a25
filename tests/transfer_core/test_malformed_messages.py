"""Texts that are not the message that is due: typed errors, whatever a peer sends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.errors import OdfError
from odf_core.identity import InvalidDid, InvalidMultihash, Multihash
from odf_core.limits import Limits
from odf_core.transfer import DEPLOYED, DIALECTS, PUBLISHED, messages
from odf_core.transfer.errors import (
    MalformedMessage,
    MessageTooLarge,
    TooManyObjects,
    UnexpectedMessage,
    UnknownHashCode,
    UnsupportedMediaType,
)
from odf_core.transfer.messages import Party
from tests.transfer_core import test_deployed_messages as deployed
from tests.transfer_core import test_published_messages as published
from tests.transfer_core.values import HEAD, LIMITS

NOT_JSON = {
    "empty": "",
    "white space": "  ",
    "text": "hello",
    "half": '{"begin_after":',
    "two documents": "{} {}",
    "trailing comma": '{"a":1,}',
    "single quotes": "{'a':1}",
    "array": "[]",
    "number": "1",
    "null": "null",
    "string": '"{}"',
    "not UTF-8": b'{"a":"\xff"}',
    "UTF-16": "{}".encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "lone surrogate": '{"a":"\ud800"}',
    "deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "open and deep": '{"a":[' * 200_000,
}
SAMPLES = {DEPLOYED: deployed.EXACT, PUBLISHED: published.EXACT}
ALL_MESSAGES = [
    pytest.param(dialect, message, id=f"{dialect.name}-{message.name}")
    for dialect in DIALECTS
    for message in dialect.codecs
]


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=NOT_JSON.keys())
@pytest.mark.parametrize(("dialect", "message"), ALL_MESSAGES)
def test_no_json_object(dialect, message, text):
    with pytest.raises(MalformedMessage):
        dialect.decode(message, text, LIMITS)


@pytest.mark.parametrize(("dialect", "message"), ALL_MESSAGES)
def test_every_required_field_is_required(dialect, message):
    texts = [text for sample, _, text in SAMPLES[dialect].values() if sample is message]
    for text in texts:
        for broken in _without_each_field(json.loads(text)):
            try:
                value = dialect.decode(message, json.dumps(broken), LIMITS)
            except (MalformedMessage, UnexpectedMessage):
                continue
            # What may be missing reads as absent, never as something else.
            assert value is not None


@pytest.mark.parametrize(("dialect", "message"), ALL_MESSAGES)
def test_every_wrong_type_is_refused(dialect, message):
    texts = [text for sample, _, text in SAMPLES[dialect].values() if sample is message]
    for text in texts:
        for broken in _with_wrong_types(json.loads(text)):
            with pytest.raises(OdfError):
                dialect.decode(message, json.dumps(broken), LIMITS)


DEPLOYED_REFUSED = {
    "number as text": (messages.PULL_RESPONSE, '"num_blocks":4', '"num_blocks":"4"', MalformedMessage),
    "number as fraction": (messages.PULL_RESPONSE, '"num_blocks":4', '"num_blocks":4.0', MalformedMessage),
    "number negative": (messages.PULL_RESPONSE, '"num_blocks":4', '"num_blocks":-1', MalformedMessage),
    "u32 overflows": (messages.PULL_RESPONSE, '"num_blocks":4', '"num_blocks":4294967296', MalformedMessage),
    "u64 overflows": (
        messages.PULL_RESPONSE,
        '"num_records":10',
        '"num_records":18446744073709551616',
        MalformedMessage,
    ),
    "huge number": (messages.PULL_RESPONSE, ":10", ":1" + "0" * 6000, MalformedMessage),
    "flag as number": (messages.PULL_REQUEST, "false", "0", MalformedMessage),
    "flag as text": (messages.PULL_REQUEST, "false", '"false"', MalformedMessage),
    "flag missing": (messages.PULL_REQUEST, '"force_update_if_diverged"', '"x"', MalformedMessage),
    "unknown visibility": (messages.PUSH_REQUEST, '"Private"', '"Secret"', MalformedMessage),
    "unknown kind of object": (messages.PULL_OBJECTS_REQUEST, "DataSlice", "MetadataBlock", MalformedMessage),
    "hash too short": (messages.PULL_OBJECTS_REQUEST, "cb8f", "cb", InvalidMultihash),
    "hash with a newline": (messages.PULL_OBJECTS_REQUEST, "cb8f", "cb8f\\n", InvalidMultihash),
    "hash very long": (messages.PULL_OBJECTS_REQUEST, "cb8f", "cb8f" * 50_000, InvalidMultihash),
    "unknown strategy": (messages.PUSH_OBJECTS_RESPONSE, "HttpUpload", "FtpUpload", MalformedMessage),
    "upload without URL": (messages.PUSH_OBJECTS_RESPONSE, '"SkipUpload"', '"HttpUpload"', MalformedMessage),
    "URL of a file": (messages.PULL_OBJECTS_RESPONSE, "http://127.0.0.1:8080", "file://", MalformedMessage),
    "URL with a line break": (messages.PULL_OBJECTS_RESPONSE, "/alice/", "/\\r\\nalice/", MalformedMessage),
    "URL very long": (messages.PULL_OBJECTS_RESPONSE, "/alice/", "/alice" * 5000, MalformedMessage),
    "header that injects": (
        messages.PULL_OBJECTS_RESPONSE,
        "Bearer TOKEN",
        "Bearer\\r\\nHost: evil",
        MalformedMessage,
    ),
    "header name that injects": (
        messages.PULL_OBJECTS_RESPONSE,
        '"authorization"',
        '"a: b"',
        MalformedMessage,
    ),
    "expiry without offset": (
        messages.PULL_OBJECTS_RESPONSE,
        '"expires_at":null',
        '"expires_at":"2026-11-20T23:00:00"',
        MalformedMessage,
    ),
    "expiry is no time": (
        messages.PULL_OBJECTS_RESPONSE,
        '"expires_at":null',
        '"expires_at":"soon"',
        MalformedMessage,
    ),
    "progress negative": (messages.PUSH_PROGRESS, ":3", ":-3", MalformedMessage),
    "progress of another kind": (messages.PUSH_PROGRESS, '"Running"', '"Paused"', MalformedMessage),
    "payload as base64": (messages.PUSH_METADATA, "[0,1]", '"AAE="', MalformedMessage),
    "payload null": (messages.PUSH_METADATA, "[0,1]", "null", MalformedMessage),
    "payload with 256": (messages.PUSH_METADATA, "[0,1]", "[0,256]", MalformedMessage),
    "count of blocks negative": (
        messages.PUSH_METADATA,
        '"num_blocks":2',
        '"num_blocks":-2',
        MalformedMessage,
    ),
    "count of blocks too large": (
        messages.PUSH_METADATA,
        '"num_blocks":2',
        '"num_blocks":4294967296',
        MalformedMessage,
    ),
    "plain tar": (messages.PUSH_METADATA, "tar+gzip", "tar", UnsupportedMediaType),
    "zip": (messages.PUSH_METADATA, "application/tar+gzip", "application/zip", UnsupportedMediaType),
    "base64 encoding": (messages.PUSH_METADATA, '"raw"', '"base64"', UnsupportedMediaType),
}


@pytest.mark.parametrize(
    ("message", "old", "new", "error"), DEPLOYED_REFUSED.values(), ids=DEPLOYED_REFUSED.keys()
)
def test_deployed_samples_made_wrong(message, old, new, error):
    texts = [text for sample, _, text in deployed.EXACT.values() if sample is message and old in text]
    assert texts
    for text in texts:
        with pytest.raises(error):
            DEPLOYED.decode(message, text.replace(old, new), LIMITS)


PUBLISHED_REFUSED = {
    "no dataset id": (messages.PULL_REQUEST, '"datasetId"', '"dataset"', MalformedMessage),
    "bad dataset id": (messages.PULL_REQUEST, "did:odf:fed01", "did:odf:fed02", InvalidDid),
    "id of another method": (messages.PUSH_REQUEST, "did:odf:", "did:web:", InvalidDid),
    "snake case": (messages.PULL_REQUEST, '"datasetId"', '"dataset_id"', MalformedMessage),
    "blocks of another type": (messages.PUSH_METADATA, "MetadataBlock", "DataSlice", MalformedMessage),
    "numbers for base64": (messages.PUSH_METADATA, '"H4sI"', "[31,139,8]", MalformedMessage),
    "bad base64": (messages.PUSH_METADATA, '"H4sI"', '"H4s"', MalformedMessage),
    "another encoding": (messages.PUSH_METADATA, '"base64"', '"raw"', UnsupportedMediaType),
    "another container": (messages.PUSH_METADATA, "tar+gzip", "zip", UnsupportedMediaType),
    "block as object": (messages.PULL_OBJECTS_REQUEST, "Checkpoint", "MetadataBlock", MalformedMessage),
    "header that injects": (messages.PULL_OBJECTS_RESPONSE, "Bearer TOKEN", "a\\nb", MalformedMessage),
}


@pytest.mark.parametrize(
    ("message", "old", "new", "error"), PUBLISHED_REFUSED.values(), ids=PUBLISHED_REFUSED.keys()
)
def test_published_samples_made_wrong(message, old, new, error):
    texts = [text for sample, _, text in published.EXACT.values() if sample is message and old in text]
    assert texts
    for text in texts:
        with pytest.raises(error):
            PUBLISHED.decode(message, text.replace(old, new), LIMITS)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_hash_of_another_function(dialect):
    other = str(Multihash(0x12, bytes(32)))
    texts = [text for sample, _, text in SAMPLES[dialect].values() if sample is messages.PUSH_REQUEST]
    text = next(text for text in texts if str(HEAD) in text)
    with pytest.raises(UnknownHashCode):
        dialect.decode(messages.PUSH_REQUEST, text.replace(str(HEAD), other), LIMITS)
    with pytest.raises(InvalidMultihash):
        dialect.decode(messages.PUSH_REQUEST, text.replace(str(HEAD), "f1720" + "0" * 64), LIMITS)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_too_many_objects(dialect):
    text = next(t for m, _, t in SAMPLES[dialect].values() if m is messages.PULL_OBJECTS_REQUEST)
    with pytest.raises(TooManyObjects):
        dialect.decode(messages.PULL_OBJECTS_REQUEST, text, Limits(objects_per_request=1))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_archive_beyond_its_limit(dialect):
    text = next(t for m, _, t in SAMPLES[dialect].values() if m is messages.PULL_METADATA_RESPONSE)
    with pytest.raises(MessageTooLarge):
        dialect.decode(
            messages.PULL_METADATA_RESPONSE,
            text,
            Limits(archive_compressed_bytes=2, archive_expanded_bytes=2),
        )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_an_empty_message_with_fields_of_another_is_out_of_turn(dialect):
    for due in (messages.PULL_METADATA_REQUEST, messages.PUSH_COMPLETE, messages.PUSH_CONFIRMED):
        for other, _, text in SAMPLES[dialect].values():
            if text != "{}":
                with pytest.raises(UnexpectedMessage):
                    dialect.decode(due, text, LIMITS)
                assert other is not due


def test_no_secret_of_the_input_in_the_message():
    with pytest.raises(MalformedMessage) as raised:
        DEPLOYED.decode(messages.PULL_REQUEST, '{"force_update_if_diverged": "Bearer SECRET"}', LIMITS)
    assert "SECRET" not in raised.value.message
    assert "force_update_if_diverged" in raised.value.message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
field_names = st.sampled_from(
    [
        *("Ok", "Err", "Internal", "InvalidHead", "error_message", "errorDetails", "details"),
        *("blocks", "new_blocks", "object_files", "transfer_plan"),
        *("sizeEstimation", "objectFiles", "datasetId"),
    ]
)


@given(st.dictionaries(field_names | st.text(max_size=5), json_values, max_size=5), st.data())
def test_arbitrary_objects_raise_nothing_but_typed_errors(value, data):
    dialect = data.draw(st.sampled_from(DIALECTS))
    message = data.draw(st.sampled_from(list(dialect.codecs)))
    try:
        dialect.decode(message, json.dumps(value), LIMITS)
    except OdfError as error:
        assert error.message
    if message.sender is Party.SERVER:
        told = dialect.reason_error(json.dumps(value), message)
        assert told is None or isinstance(told, OdfError)


@given(st.text(max_size=150), st.data())
def test_arbitrary_close_reasons(reason, data):
    dialect = data.draw(st.sampled_from(DIALECTS))
    message = data.draw(st.sampled_from([m for m in dialect.codecs if m.sender is Party.SERVER]))
    found = dialect.reason_error(reason, message)
    assert found is None or isinstance(found, OdfError)


def _without_each_field(value):
    """The value with every field of every object left out, one at a time."""
    if isinstance(value, dict):
        for name in value:
            yield {key: item for key, item in value.items() if key != name}
            for broken in _without_each_field(value[name]):
                yield {**value, name: broken}
    elif isinstance(value, list):
        for index, item in enumerate(value[:3]):
            for broken in _without_each_field(item):
                yield [*value[:index], broken, *value[index + 1 :]]


def _with_wrong_types(value):
    """The value with every leaf replaced by something that no field accepts."""
    if isinstance(value, dict):
        for name, item in value.items():
            if item == {}:
                continue
            for broken in _with_wrong_types(item):
                yield {**value, name: broken}
    elif isinstance(value, list):
        for index, item in enumerate(value[:3]):
            for broken in _with_wrong_types(item):
                yield [*value[:index], broken, *value[index + 1 :]]
    else:
        yield [[1.5]]
        yield {"x": []}
