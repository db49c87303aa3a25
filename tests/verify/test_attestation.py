"""Findings as a signed in-toto statement, and what is believed of one that comes from elsewhere."""

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from odf_core.identity import Multihash
from odf_core.identity.did import KeyDid
from odf_core.metadata import Timestamp
from odf_core.verify import (
    EngineUsed,
    Finding,
    ReplayReport,
    ReplaySummary,
    Severity,
    VerificationReport,
    VerificationSummary,
    attest,
    verification_predicate,
    verify_attestation,
)
from odf_core.verify.attestation import MOST_FINDINGS, STATEMENT_TYPE, AttestationInvalid
from odf_core.verify.dsse import EnvelopeInvalid, sign_envelope
from tests.builders.chain_builder import dataset_id

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = KeyDid(KEY.public_key().public_bytes_raw())
NOW = Timestamp.parse("2026-01-02T03:04:05Z")
ID = dataset_id("derived")
HEAD = Multihash.sha3_256(b"head")
WRONG = Finding("not_reproducible", Severity.ERROR, "Block x is not what its query gives.", (), "x")
LEFT_OUT = Finding("engine_not_installed", Severity.WARNING, "6 steps were not replayed.")


def replayed(*findings, steps=6, done=6):
    summary = ReplaySummary(head=HEAD, steps=steps, replayed=done, engines={EngineUsed("spark", "4.3")})
    for finding in findings:
        summary.count(finding)
    return ReplayReport(list(findings), summary)


def checked(*findings):
    report = VerificationReport(list(findings), VerificationSummary(head=HEAD, blocks=3))
    for finding in findings:
        report.summary.count(finding)
    return report


def predicate(integrity=None, replay=None, further=()):
    return verification_predicate(integrity, replay, verified_at=NOW, further=further)


@pytest.mark.parametrize(
    ("integrity", "replay", "further", "verdict"),
    [
        (checked(), replayed(), (), "valid"),
        (checked(), None, (), "valid"),
        (None, replayed(), (), "valid"),
        (checked(WRONG), replayed(), (), "invalid"),
        (checked(), replayed(WRONG), (), "invalid"),
        (checked(), replayed(LEFT_OUT, done=0), (), "incomplete"),
        (checked(), replayed(done=5), (), "incomplete"),
        (checked(), replayed(), (LEFT_OUT,), "incomplete"),
        (None, None, (), "incomplete"),
    ],
)
def test_the_verdict(integrity, replay, further, verdict):
    assert predicate(integrity, replay, further)["verdict"] == verdict


def test_the_statement_is_about_the_head_of_a_dataset():
    envelope = attest(ID, HEAD, predicate(checked(), replayed(WRONG)), KEY)
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    said = json.loads(base64.b64decode(envelope["payload"]))
    assert said["_type"] == STATEMENT_TYPE == "https://in-toto.io/Statement/v1"
    assert said["subject"] == [{"name": str(ID), "digest": {"sha3_256": HEAD.digest.hex()}}]
    assert said["predicate"]["engines"] == [{"name": "spark", "version": "4.3"}]
    assert said["predicate"]["verifiedAt"] == str(NOW)
    assert said["predicate"]["findings"][0]["block"] == "x"
    assert said["predicate"]["replay"]["steps"] == 6


def test_equal_findings_give_equal_bytes():
    assert attest(ID, HEAD, predicate(checked()), KEY) == attest(ID, HEAD, predicate(checked()), KEY)


def test_findings_are_bounded():
    told = predicate(replay=replayed(*[WRONG] * 250))
    assert (len(told["findings"]), told["numFindings"]) == (MOST_FINDINGS, 250)


def test_a_statement_is_read_again():
    told = predicate(checked(), replayed())
    found = verify_attestation(attest(ID, HEAD, told, KEY), [SIGNER], dataset_id=ID, head=HEAD)
    assert (found.signer, found.dataset_id, found.head) == (SIGNER, ID, HEAD)
    assert found.predicate == told


@pytest.mark.parametrize(
    "about", [{"dataset_id": dataset_id("other")}, {"head": Multihash.sha3_256(b"other")}]
)
def test_a_statement_about_something_else(about):
    with pytest.raises(AttestationInvalid, match="is about the"):
        verify_attestation(attest(ID, HEAD, {}, KEY), [SIGNER], **about)


def test_another_payload_under_the_signature():
    envelope = attest(ID, HEAD, predicate(checked(WRONG)), KEY)
    other = attest(ID, HEAD, predicate(checked()), KEY)
    with pytest.raises(EnvelopeInvalid):
        verify_attestation(envelope | {"payload": other["payload"]}, [SIGNER])


GOOD = {
    "_type": STATEMENT_TYPE,
    "subject": [{"name": str(ID), "digest": {"sha3_256": "00" * 32}}],
    "predicateType": "urn:x",
    "predicate": {},
}


def _signed(content, kind="application/vnd.in-toto+json"):
    payload = content if isinstance(content, bytes) else json.dumps(content).encode()
    return sign_envelope(kind, payload, KEY)


def test_a_statement_of_another_maker():
    assert verify_attestation(_signed(GOOD), [SIGNER]).predicate_type == "urn:x"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        [],
        "text",
        GOOD | {"_type": "https://in-toto.io/Statement/v0.1"},
        GOOD | {"subject": []},
        GOOD | {"subject": GOOD["subject"] * 2},
        GOOD | {"subject": [{"name": "no id", "digest": {"sha3_256": "00" * 32}}]},
        GOOD | {"subject": [{"name": str(ID), "digest": {"sha256": "00" * 32}}]},
        GOOD | {"subject": [{"name": str(ID), "digest": {"sha3_256": "00"}}]},
        GOOD | {"subject": [{"name": str(ID), "digest": {"sha3_256": 5}}]},
        GOOD | {"predicate": []},
        {name: value for name, value in GOOD.items() if name != "predicateType"},
    ],
)
def test_signed_payloads_that_are_no_statement(content):
    with pytest.raises(AttestationInvalid):
        verify_attestation(_signed(content), [SIGNER])


def test_a_payload_of_another_type():
    with pytest.raises(AttestationInvalid, match="has the type"):
        verify_attestation(_signed(GOOD, "application/json"), [SIGNER])
