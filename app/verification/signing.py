"""Findings of the node as attestations, signed with its key."""

from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.datasets.model import DatasetInfo
from app.verification.check import Checked
from app.verification.requests import VerifyRequest
from odf_core.verify.attestation import attest


def signed_finding(
    key: Ed25519PrivateKey, dataset: DatasetInfo, request: VerifyRequest, found: Checked, made_at: datetime
) -> dict[str, Any]:
    """The envelope, JSON-compatible; `odf_core.verify.attestation.verify_attestation` reads it."""
    predicate = {
        "verifiedAt": made_at.isoformat(),
        "request": request.to_values(),
        "finding": found.to_json(),
    }
    return attest(dataset.id, found.head, predicate, key)
