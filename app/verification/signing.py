"""Findings as attestations: an in-toto statement in a DSSE envelope, signed with the node's key."""

import base64
from datetime import datetime
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.datasets.model import DatasetInfo
from app.verification.check import Checked
from app.verification.requests import VerifyRequest
from odf_core.identity.did import KeyDid

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://opendatafabric.org/attestations/verification/v1"


def signed_finding(
    key: Ed25519PrivateKey, dataset: DatasetInfo, request: VerifyRequest, found: Checked, made_at: datetime
) -> dict[str, Any]:
    """The envelope, JSON-compatible."""
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": str(dataset.id), "digest": {"sha3_256": found.head.digest.hex()}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "verifiedAt": made_at.isoformat(),
            "request": request.to_values(),
            "finding": found.to_json(),
        },
    }
    payload = orjson.dumps(statement, option=orjson.OPT_SORT_KEYS)
    signature = key.sign(_authenticated(payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": (KeyDid(key.public_key().public_bytes_raw()).to_did_key()),
                "sig": base64.b64encode(signature).decode(),
            }
        ],
    }


def _authenticated(payload: bytes) -> bytes:
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
