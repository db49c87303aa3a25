"""Whatever can be said comes back as it was said, in both dialects."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.transfer import DEPLOYED, PUBLISHED, messages
from odf_core.transfer.model import (
    BlocksBatch,
    MediaType,
    ObjectsRequest,
    Progress,
    PullObjects,
    PullRequest,
    PullStrategy,
    PushObjects,
    PushRequest,
    PushStrategy,
    TransferPlan,
    TransferUrl,
    Visibility,
)
from tests.transfer_core.values import LIMITS

digests = st.binary(min_size=32, max_size=32)
hashes = st.builds(Multihash, st.just(SHA3_256), digests)
u32, u64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
ids = st.builds(DatasetId, digests)
refs = st.builds(ObjectRef, st.sampled_from(ObjectKind), hashes, u64)
bare_refs = st.builds(ObjectRef, st.sampled_from(ObjectKind), hashes, st.none())
plans = st.builds(TransferPlan, u32, u32, u64, u64, u64)
bare_plans = st.builds(TransferPlan, u32, u32, st.none(), u64, u64)
moments = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
visible = st.characters(
    min_codepoint=33, max_codepoint=0x24F, exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]
)
urls = st.builds(
    TransferUrl,
    st.text(visible, max_size=60).map(lambda path: f"https://example.org/{path}"),
    st.lists(
        st.tuples(st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True), st.text(visible, max_size=40)),
        max_size=4,
    ).map(tuple),
    st.none() | moments,
)


def tuples(items):
    return st.lists(items, max_size=5).map(tuple)


def comes_back(dialect, message, value):
    text = dialect.encode(message, value)
    assert dialect.decode(message, text.to_text(), LIMITS) == value
    assert dialect.decode(message, text.to_bytes(), LIMITS) == value
    assert text.size == len(text.to_bytes())


@given(st.builds(PullRequest, st.none(), st.none() | hashes, st.none() | hashes, st.booleans()))
def test_deployed_pull_request(value):
    comes_back(DEPLOYED, messages.PULL_REQUEST, value)


@given(plans)
def test_deployed_plan(value):
    comes_back(DEPLOYED, messages.PULL_RESPONSE, value)


@given(
    st.builds(PushRequest, st.none(), st.none() | hashes, plans, st.booleans(), st.sampled_from(Visibility))
)
def test_deployed_push_request(value):
    comes_back(DEPLOYED, messages.PUSH_REQUEST, value)


@given(tuples(refs), st.booleans())
def test_deployed_objects_requests(objects, is_truncated):
    comes_back(DEPLOYED, messages.PULL_OBJECTS_REQUEST, ObjectsRequest(objects))
    comes_back(DEPLOYED, messages.PUSH_OBJECTS_REQUEST, ObjectsRequest(objects, is_truncated))


@given(tuples(st.builds(PullStrategy, refs, urls)), tuples(st.builds(PushStrategy, refs, st.none() | urls)))
def test_deployed_strategies(pulls, pushes):
    comes_back(DEPLOYED, messages.PULL_OBJECTS_RESPONSE, PullObjects(pulls))
    comes_back(DEPLOYED, messages.PUSH_OBJECTS_RESPONSE, PushObjects(pushes))


@given(u32, st.binary(max_size=500))
def test_deployed_batches(count, payload):
    for message in (messages.PULL_METADATA_RESPONSE, messages.PUSH_METADATA):
        comes_back(DEPLOYED, message, BlocksBatch(count, payload))


@given(st.none() | st.integers(0, 2**31 - 1))
def test_deployed_progress(count):
    comes_back(DEPLOYED, messages.PUSH_PROGRESS, Progress(count))


@given(st.builds(PullRequest, ids, st.none() | hashes, st.none() | hashes))
def test_published_pull_request(value):
    comes_back(PUBLISHED, messages.PULL_REQUEST, value)


@given(bare_plans)
def test_published_plan(value):
    comes_back(PUBLISHED, messages.PULL_RESPONSE, value)


@given(st.builds(PushRequest, ids, st.none() | hashes, bare_plans))
def test_published_push_request(value):
    comes_back(PUBLISHED, messages.PUSH_REQUEST, value)


@given(tuples(bare_refs))
def test_published_objects_requests(objects):
    for message in (messages.PULL_OBJECTS_REQUEST, messages.PUSH_OBJECTS_REQUEST):
        comes_back(PUBLISHED, message, ObjectsRequest(objects))


@given(
    tuples(st.builds(PullStrategy, bare_refs, urls)),
    tuples(st.builds(PushStrategy, bare_refs, st.none() | urls)),
)
def test_published_strategies(pulls, pushes):
    comes_back(PUBLISHED, messages.PULL_OBJECTS_RESPONSE, PullObjects(pulls))
    comes_back(PUBLISHED, messages.PUSH_OBJECTS_RESPONSE, PushObjects(pushes))


@given(u32, st.binary(max_size=500), st.sampled_from(MediaType))
def test_published_batches(count, payload, media_type):
    for message in (messages.PULL_METADATA_RESPONSE, messages.PUSH_METADATA):
        comes_back(PUBLISHED, message, BlocksBatch(count, payload, media_type))


def test_moments_are_written_in_utc():
    moment = datetime.fromisoformat("2026-11-21T01:00:00.250000+02:00")
    value = PullObjects(
        (
            PullStrategy(
                ObjectRef(ObjectKind.CHECKPOINT, Multihash.sha3_256(b""), 1),
                TransferUrl("http://x", (), moment),
            ),
        )
    )
    text = DEPLOYED.encode(messages.PULL_OBJECTS_RESPONSE, value).to_text()
    assert '"expires_at":"2026-11-20T23:00:00.250000Z"' in text
    read = DEPLOYED.decode(messages.PULL_OBJECTS_RESPONSE, text, LIMITS)
    assert read.strategies[0].url.expires_at - moment == timedelta(0)
