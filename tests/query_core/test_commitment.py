"""Commitments and proofs: the vectors, and that nothing wrong passes."""

import copy
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from odf_core.query.canonical import NotCanonical, canonical_json
from odf_core.query.commitment import (
    BadProof,
    Commitment,
    CommitmentMismatch,
    ProofUnsupported,
    require_signature,
    sign,
)
from tests.vectors import require_vectors


def cases() -> list[dict[str, Any]]:
    text = require_vectors("query_commitment/commitments.json").read_text()
    found: list[dict[str, Any]] = json.loads(text)["cases"]
    return found


def test_the_vectors_hold() -> None:
    for case in cases():
        commitment = Commitment.of(case["input"], case["output"], case["subQueries"])
        assert commitment.to_json() == case["commitment"]
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(case["ed25519_seed_hex"]))
        assert sign(commitment, key) == case["proof"]
        signer = require_signature(Commitment.from_json(case["commitment"]), case["proof"])
        assert signer.to_did_key() == case["proof"]["verificationMethod"]
        commitment.require_parts(case["input"], case["subQueries"])


def test_what_was_changed_is_noticed() -> None:
    case = cases()[0]
    commitment = Commitment.from_json(case["commitment"])
    with pytest.raises(CommitmentMismatch) as found:
        commitment.require_parts({**case["input"], "limit": 101}, [])
    assert found.value.kind == "InputHash"
    with pytest.raises(CommitmentMismatch) as found:
        commitment.require_parts(case["input"], [{}])
    assert found.value.kind == "SubQueriesHash"
    other = Commitment.of(case["input"], case["input"])
    with pytest.raises(BadProof):
        require_signature(other, case["proof"])


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("type", "EcdsaSecp256k1Signature2019", ProofUnsupported),
        ("type", "Ed25519", BadProof),
        ("proofValue", "u!!", BadProof),
        ("proofValue", "uAAAA", BadProof),
        ("proofValue", None, BadProof),
        ("verificationMethod", "did:key:z6Mk", BadProof),
        ("verificationMethod", "did:odf:fed01" + "00" * 32, BadProof),
        ("verificationMethod", 7, BadProof),
    ],
)
def test_a_proof_that_is_none(field: str, value: object, error: type[Exception]) -> None:
    case = copy.deepcopy(cases()[0])
    case["proof"][field] = value
    with pytest.raises(error):
        require_signature(Commitment.from_json(case["commitment"]), case["proof"])


def test_canonical_json() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "ä\U0001f600"}) == (
        b'{"a":"\\u00e4\\ud83d\\ude00","b":[1,2.5,null]}'
    )
    for value in (float("nan"), [float("inf")], {1: 2}, b"x"):
        with pytest.raises(NotCanonical):
            canonical_json(value)
