"""Every message of the published dialect to the byte, in both directions (wire-published.md)."""

import base64

import pytest

from odf_core.transfer import PUBLISHED, MediaType, messages
from odf_core.transfer.errors import DialectLimitation
from odf_core.transfer.model import (
    BlocksBatch,
    MetadataAccepted,
    MetadataRequest,
    ObjectsRequest,
    PullObjects,
    PullRequest,
    PullStrategy,
    PushAccepted,
    PushComplete,
    PushConfirmed,
    PushObjects,
    PushRequest,
    PushStrategy,
    TransferPlan,
    Visibility,
)
from tests.transfer_core.values import (
    CHECKPOINT,
    DATASET,
    HEAD,
    LIMITS,
    LOCAL_URL,
    SIGNED_URL,
    SLICE,
    TAIL,
    without_size,
)

BARE_SLICE, BARE_CHECKPOINT = without_size(SLICE), without_size(CHECKPOINT)
PLAN = TransferPlan(4, 2, None, 2048, 1234)
PLAN_TEXT = '{"numBlocks":4,"numObjects":2,"bytesInRawBlocks":2048,"bytesInRawObjects":1234}'
ID_TEXT = "did:odf:fed01000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
SLICE_TEXT = (
    '{"objectType":"DataSlice",'
    '"physicalHash":"f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f"}'
)
CHECKPOINT_TEXT = (
    '{"objectType":"Checkpoint",'
    '"physicalHash":"f1620d6753d3b655737bdc3fd76669580559ddcb788fa8ebb7ad53220ef1040bed833"}'
)
URL_TEXT = (
    '{"url":"https://s3.example.org/bucket/'
    'f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f?X-Amz-Expires=3600",'
    '"expiresAt":"2026-11-20T23:00:00Z"}'
)
HEADERS_TEXT = (
    '{"url":"http://127.0.0.1:8080/alice/foo/data/'
    'f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f",'
    '"headers":[{"name":"x-odf-smtp-version","value":"1"},'
    '{"name":"authorization","value":"Bearer TOKEN"}]}'
)
PAYLOAD = bytes(range(256)) * 200
PAYLOAD_TEXT = base64.b64encode(PAYLOAD).decode()

EXACT = {
    "first pull": (messages.PULL_REQUEST, PullRequest(DATASET, None), f'{{"datasetId":"{ID_TEXT}"}}'),
    "pull of an interval": (
        messages.PULL_REQUEST,
        PullRequest(DATASET, TAIL, HEAD),
        f'{{"datasetId":"{ID_TEXT}","beginAfter":"{TAIL}","stopAt":"{HEAD}"}}',
    ),
    "plan": (messages.PULL_RESPONSE, PLAN, f'{{"sizeEstimation":{PLAN_TEXT}}}'),
    "up to date": (
        messages.PULL_RESPONSE,
        TransferPlan(0, 0, None, 0, 0),
        '{"sizeEstimation":{"numBlocks":0,"numObjects":0,"bytesInRawBlocks":0,"bytesInRawObjects":0}}',
    ),
    "metadata request": (messages.PULL_METADATA_REQUEST, MetadataRequest(), "{}"),
    "blocks of a pull": (
        messages.PULL_METADATA_RESPONSE,
        BlocksBatch(1, PAYLOAD, MediaType.TAR),
        '{"blocks":{"objectsCount":1,"objectType":"MetadataBlock","mediaType":"application/tar",'
        f'"encoding":"base64","payload":"{PAYLOAD_TEXT}"}}}}',
    ),
    "objects of a pull": (
        messages.PULL_OBJECTS_REQUEST,
        ObjectsRequest((BARE_SLICE, BARE_CHECKPOINT)),
        f'{{"objectFiles":[{SLICE_TEXT},{CHECKPOINT_TEXT}]}}',
    ),
    "download": (
        messages.PULL_OBJECTS_RESPONSE,
        PullObjects((PullStrategy(BARE_SLICE, SIGNED_URL),)),
        f'{{"objectTransferStrategies":[{{"objectFile":{SLICE_TEXT},'
        f'"pullStrategy":"HttpDownload","downloadFrom":{URL_TEXT}}}]}}',
    ),
    "download with headers": (
        messages.PULL_OBJECTS_RESPONSE,
        PullObjects((PullStrategy(BARE_SLICE, LOCAL_URL),)),
        f'{{"objectTransferStrategies":[{{"objectFile":{SLICE_TEXT},'
        f'"pullStrategy":"HttpDownload","downloadFrom":{HEADERS_TEXT}}}]}}',
    ),
    "first push": (
        messages.PUSH_REQUEST,
        PushRequest(DATASET, None, PLAN),
        f'{{"datasetId":"{ID_TEXT}","sizeEstimation":{PLAN_TEXT}}}',
    ),
    "push": (
        messages.PUSH_REQUEST,
        PushRequest(DATASET, HEAD, PLAN),
        f'{{"datasetId":"{ID_TEXT}","currentHead":"{HEAD}","sizeEstimation":{PLAN_TEXT}}}',
    ),
    "push accepted": (messages.PUSH_RESPONSE, PushAccepted(), "{}"),
    "blocks of a push": (
        messages.PUSH_METADATA,
        BlocksBatch(1, b"\x1f\x8b\x08", MediaType.TAR_GZIP),
        '{"newBlocks":{"objectsCount":1,"objectType":"MetadataBlock","mediaType":"application/tar+gzip",'
        '"encoding":"base64","payload":"H4sI"}}',
    ),
    "blocks accepted": (messages.PUSH_METADATA_RESPONSE, MetadataAccepted(), "{}"),
    "objects of a push": (
        messages.PUSH_OBJECTS_REQUEST,
        ObjectsRequest((BARE_SLICE,)),
        f'{{"objectFiles":[{SLICE_TEXT}]}}',
    ),
    "upload and skip": (
        messages.PUSH_OBJECTS_RESPONSE,
        PushObjects((PushStrategy(BARE_SLICE, SIGNED_URL), PushStrategy(BARE_CHECKPOINT, None))),
        f'{{"objectTransferStrategies":[{{"objectFile":{SLICE_TEXT},"pushStrategy":"HttpUpload",'
        f'"uploadTo":{URL_TEXT}}},{{"objectFile":{CHECKPOINT_TEXT},"pushStrategy":"SkipUpload"}}]}}',
    ),
    "complete": (messages.PUSH_COMPLETE, PushComplete(), "{}"),
    "confirmed": (messages.PUSH_CONFIRMED, PushConfirmed(), "{}"),
}


def test_every_message_has_a_sample():
    progress = {messages.PUSH_PROGRESS, messages.PUSH_PROGRESS_REQUEST}
    assert {message for message, _, _ in EXACT.values()} == set(PUBLISHED.codecs)
    assert set(PUBLISHED.codecs) == set(messages.MESSAGES) - progress


@pytest.mark.parametrize(("message", "value", "text"), EXACT.values(), ids=EXACT.keys())
def test_written_to_the_byte(message, value, text):
    encoded = PUBLISHED.encode(message, value)
    assert encoded.to_text() == text
    assert encoded.size == len(text)


@pytest.mark.parametrize(("message", "value", "text"), EXACT.values(), ids=EXACT.keys())
def test_read_back(message, value, text):
    assert PUBLISHED.decode(message, text, LIMITS) == value


READ_TOO = {
    "current head null": (
        messages.PUSH_REQUEST,
        f'{{"datasetId":"{ID_TEXT}","currentHead":null,"sizeEstimation":{PLAN_TEXT}}}',
        PushRequest(DATASET, None, PLAN),
    ),
    "begin null, unknown fields, example hash of the document's kind": (
        messages.PULL_REQUEST,
        f'{{"x":1,"datasetId":"{ID_TEXT}","beginAfter":null,"stopAt":"{str(HEAD).upper()}"}}',
        PullRequest(DATASET, None, HEAD),
    ),
    "sizes are ignored": (
        messages.PULL_OBJECTS_REQUEST,
        f'{{"objectFiles":[{SLICE_TEXT[:-1]},"size":5}}]}}',
        ObjectsRequest((BARE_SLICE,)),
    ),
}


@pytest.mark.parametrize(("message", "text", "value"), READ_TOO.values(), ids=READ_TOO.keys())
def test_read_leniently(message, text, value):
    assert PUBLISHED.decode(message, text, LIMITS) == value


UNSAYABLE = {
    "pull without id": (messages.PULL_REQUEST, PullRequest(None, None)),
    "forced pull": (messages.PULL_REQUEST, PullRequest(DATASET, None, force=True)),
    "push without id": (messages.PUSH_REQUEST, PushRequest(None, None, PLAN)),
    "forced push": (messages.PUSH_REQUEST, PushRequest(DATASET, None, PLAN, force=True)),
    "public push": (messages.PUSH_REQUEST, PushRequest(DATASET, None, PLAN, visibility=Visibility.PUBLIC)),
}


@pytest.mark.parametrize(("message", "value"), UNSAYABLE.values(), ids=UNSAYABLE.keys())
def test_what_the_dialect_has_no_words_for(message, value):
    with pytest.raises(DialectLimitation):
        PUBLISHED.encode(message, value)
