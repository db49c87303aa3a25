"""Every message of the deployed dialect to the byte, in both directions (wire.md 3.4, 3.5)."""

import pytest

from odf_core.transfer import DEPLOYED, MediaType, messages, write_archive
from odf_core.transfer.errors import DialectLimitation, UnsupportedMediaType
from odf_core.transfer.model import (
    BlocksBatch,
    MetadataAccepted,
    MetadataRequest,
    ObjectsRequest,
    Progress,
    ProgressRequest,
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
    PLAN,
    SIGNED_URL,
    SLICE,
    TAIL,
    raw_blocks,
    without_size,
)

PLAN_TEXT = (
    '{"num_blocks":4,"num_objects":2,"num_records":10,"bytes_in_raw_blocks":2048,"bytes_in_raw_objects":1234}'
)
SLICE_TEXT = (
    '{"object_type":"DataSlice",'
    '"physical_hash":"f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f","size":1202}'
)
CHECKPOINT_TEXT = (
    '{"object_type":"Checkpoint",'
    '"physical_hash":"f1620d6753d3b655737bdc3fd76669580559ddcb788fa8ebb7ad53220ef1040bed833","size":32}'
)
URL_TEXT = (
    '{"url":"http://127.0.0.1:8080/alice/foo/data/'
    'f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f",'
    '"headers":[{"name":"x-odf-smtp-version","value":"1"},'
    '{"name":"authorization","value":"Bearer TOKEN"}],"expires_at":null}'
)
SIGNED_TEXT = (
    '{"url":"https://s3.example.org/bucket/'
    'f162074fb0ec3841284e3cb7fa045b99125bc9eb487e1e13cec584bbdca582d98cb8f?X-Amz-Expires=3600",'
    '"headers":[],"expires_at":"2026-11-20T23:00:00Z"}'
)

EXACT = {
    "first pull": (
        messages.PULL_REQUEST,
        PullRequest(None, None),
        '{"begin_after":null,"stop_at":null,"force_update_if_diverged":false}',
    ),
    "pull of an interval by force": (
        messages.PULL_REQUEST,
        PullRequest(None, TAIL, HEAD, force=True),
        f'{{"begin_after":"{TAIL}","stop_at":"{HEAD}","force_update_if_diverged":true}}',
    ),
    "plan": (messages.PULL_RESPONSE, PLAN, f'{{"Ok":{{"transfer_plan":{PLAN_TEXT}}}}}'),
    "up to date": (
        messages.PULL_RESPONSE,
        TransferPlan.empty(),
        '{"Ok":{"transfer_plan":{"num_blocks":0,"num_objects":0,"num_records":0,'
        '"bytes_in_raw_blocks":0,"bytes_in_raw_objects":0}}}',
    ),
    "largest plan": (
        messages.PULL_RESPONSE,
        TransferPlan(2**32 - 1, 2**32 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 1),
        '{"Ok":{"transfer_plan":{"num_blocks":4294967295,"num_objects":4294967295,'
        '"num_records":18446744073709551615,"bytes_in_raw_blocks":18446744073709551615,'
        '"bytes_in_raw_objects":18446744073709551615}}}',
    ),
    "metadata request": (messages.PULL_METADATA_REQUEST, MetadataRequest(), "{}"),
    "blocks of a pull": (
        messages.PULL_METADATA_RESPONSE,
        BlocksBatch(1, bytes([31, 139, 8, 0, 255])),
        '{"blocks":{"num_blocks":1,"media_type":"application/tar+gzip","encoding":"raw",'
        '"payload":[31,139,8,0,255]}}',
    ),
    "objects of a pull": (
        messages.PULL_OBJECTS_REQUEST,
        ObjectsRequest((SLICE, CHECKPOINT)),
        f'{{"object_files":[{SLICE_TEXT},{CHECKPOINT_TEXT}]}}',
    ),
    "no objects": (messages.PULL_OBJECTS_REQUEST, ObjectsRequest(()), '{"object_files":[]}'),
    "download": (
        messages.PULL_OBJECTS_RESPONSE,
        PullObjects((PullStrategy(SLICE, LOCAL_URL),)),
        f'{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},'
        f'"pull_strategy":"HttpDownload","download_from":{URL_TEXT}}}]}}',
    ),
    "download by a signed URL": (
        messages.PULL_OBJECTS_RESPONSE,
        PullObjects((PullStrategy(SLICE, SIGNED_URL),)),
        f'{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},'
        f'"pull_strategy":"HttpDownload","download_from":{SIGNED_TEXT}}}]}}',
    ),
    "first push": (
        messages.PUSH_REQUEST,
        PushRequest(None, None, PLAN),
        f'{{"current_head":null,"transfer_plan":{PLAN_TEXT},"force_update_if_diverged":false,'
        '"visibility_for_created_dataset":"Private"}',
    ),
    "forced public push": (
        messages.PUSH_REQUEST,
        PushRequest(None, HEAD, PLAN, force=True, visibility=Visibility.PUBLIC),
        f'{{"current_head":"{HEAD}","transfer_plan":{PLAN_TEXT},"force_update_if_diverged":true,'
        '"visibility_for_created_dataset":"Public"}',
    ),
    "push accepted": (messages.PUSH_RESPONSE, PushAccepted(), '{"Ok":{}}'),
    "blocks of a push": (
        messages.PUSH_METADATA,
        BlocksBatch(2, b"\x00\x01"),
        '{"new_blocks":{"num_blocks":2,"media_type":"application/tar+gzip","encoding":"raw",'
        '"payload":[0,1]}}',
    ),
    "blocks accepted": (messages.PUSH_METADATA_RESPONSE, MetadataAccepted(), '{"Ok":{}}'),
    "objects of a push": (
        messages.PUSH_OBJECTS_REQUEST,
        ObjectsRequest((SLICE,)),
        f'{{"object_files":[{SLICE_TEXT}],"is_truncated":false}}',
    ),
    "some objects of a push": (
        messages.PUSH_OBJECTS_REQUEST,
        ObjectsRequest((), is_truncated=True),
        '{"object_files":[],"is_truncated":true}',
    ),
    "upload and skip": (
        messages.PUSH_OBJECTS_RESPONSE,
        PushObjects((PushStrategy(SLICE, LOCAL_URL), PushStrategy(CHECKPOINT, None))),
        f'{{"Ok":{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},'
        f'"push_strategy":"HttpUpload","upload_to":{URL_TEXT}}},'
        f'{{"object_file":{CHECKPOINT_TEXT},"push_strategy":"SkipUpload","upload_to":null}}]}}}}',
    ),
    "progress request": (messages.PUSH_PROGRESS_REQUEST, ProgressRequest(), "{}"),
    "running": (
        messages.PUSH_PROGRESS,
        Progress(3),
        '{"details":{"Running":{"uploaded_objects_count":3}}}',
    ),
    "uploaded": (messages.PUSH_PROGRESS, Progress(None), '{"details":"Complete"}'),
    "complete": (messages.PUSH_COMPLETE, PushComplete(), "{}"),
    "confirmed": (messages.PUSH_CONFIRMED, PushConfirmed(), "{}"),
}


def test_every_message_has_a_sample():
    assert {message for message, _, _ in EXACT.values()} == set(messages.MESSAGES) == set(DEPLOYED.codecs)


@pytest.mark.parametrize(("message", "value", "text"), EXACT.values(), ids=EXACT.keys())
def test_written_to_the_byte(message, value, text):
    encoded = DEPLOYED.encode(message, value)
    assert encoded.to_text() == text
    assert encoded.size == len(text)


@pytest.mark.parametrize(("message", "value", "text"), EXACT.values(), ids=EXACT.keys())
def test_read_back(message, value, text):
    assert DEPLOYED.decode(message, text, LIMITS) == value
    assert DEPLOYED.decode(message, text.encode(), LIMITS) == value


READ_TOO = {
    "optional fields omitted": (
        messages.PULL_REQUEST,
        '{"force_update_if_diverged": false}',
        PullRequest(None, None),
    ),
    "current_head omitted": (
        messages.PUSH_REQUEST,
        f'{{"transfer_plan": {PLAN_TEXT}, "force_update_if_diverged": false,'
        ' "visibility_for_created_dataset": "Private"}',
        PushRequest(None, None, PLAN),
    ),
    "visibility in lower case": (
        messages.PUSH_REQUEST,
        f'{{"current_head": null, "transfer_plan": {PLAN_TEXT}, "force_update_if_diverged": false,'
        ' "visibility_for_created_dataset": "public"}',
        PushRequest(None, None, PLAN, visibility=Visibility.PUBLIC),
    ),
    "unknown fields": (
        messages.PULL_REQUEST,
        '{"force_update_if_diverged": true, "later": [1, {"x": null}], "begin_after": null}',
        PullRequest(None, None, force=True),
    ),
    "another order, white space": (
        messages.PUSH_METADATA,
        ' {"new_blocks" : { "payload":[ 1 ,\n2 ] , "encoding":"raw","media_type":"application/tar+gzip",'
        '"num_blocks":2, "x": "]"}}\n',
        BlocksBatch(2, b"\x01\x02"),
    ),
    "hash in another multibase": (
        messages.PULL_REQUEST,
        f'{{"begin_after": "{str(HEAD).upper()}", "force_update_if_diverged": false}}',
        PullRequest(None, HEAD),
    ),
    "blocks accepted by an old peer": (messages.PUSH_METADATA_RESPONSE, "{}", MetadataAccepted()),
    "an empty message with other fields": (messages.PUSH_COMPLETE, '{"anything": 1}', PushComplete()),
    "upload_to omitted": (
        messages.PUSH_OBJECTS_RESPONSE,
        f'{{"Ok":{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},'
        '"push_strategy":"SkipUpload"}]}}',
        PushObjects((PushStrategy(SLICE, None),)),
    ),
    "skip with a URL": (
        messages.PUSH_OBJECTS_RESPONSE,
        f'{{"Ok":{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},'
        f'"push_strategy":"SkipUpload","upload_to":{URL_TEXT}}}]}}}}',
        PushObjects((PushStrategy(SLICE, None),)),
    ),
    "expiry with an offset and nanoseconds": (
        messages.PULL_OBJECTS_RESPONSE,
        f'{{"object_transfer_strategies":[{{"object_file":{SLICE_TEXT},"pull_strategy":"HttpDownload",'
        f'"download_from":{SIGNED_TEXT.replace("20T23:00:00Z", "21T00:00:00.000000000+01:00")}}}]}}',
        PullObjects((PullStrategy(SLICE, SIGNED_URL),)),
    ),
}


@pytest.mark.parametrize(("message", "text", "value"), READ_TOO.values(), ids=READ_TOO.keys())
def test_read_leniently_where_the_deployed_peer_is(message, text, value):
    assert DEPLOYED.decode(message, text, LIMITS) == value


def test_dataset_id_is_not_told():
    text = DEPLOYED.encode(messages.PULL_REQUEST, PullRequest(DATASET, None)).to_text()
    assert str(DATASET) not in text


def test_size_of_an_object_is_needed():
    with pytest.raises(DialectLimitation):
        DEPLOYED.encode(messages.PULL_OBJECTS_REQUEST, ObjectsRequest((without_size(SLICE),)))


def test_plain_tar_is_not_sent():
    batch = BlocksBatch(1, write_archive(raw_blocks(1), MediaType.TAR), MediaType.TAR)
    with pytest.raises(UnsupportedMediaType):
        DEPLOYED.encode(messages.PUSH_METADATA, batch)


def test_unknown_number_of_records_is_zero_on_the_wire():
    text = DEPLOYED.encode(messages.PULL_RESPONSE, TransferPlan(1, 0, None, 10, 0)).to_text()
    assert '"num_records":0' in text
