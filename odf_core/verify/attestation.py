"""A verification as a signed statement: in-toto, about the chain of a dataset up to a head.

Pure values: nothing is read, and the time is the caller's.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from odf_core.errors import IntegrityError, InvalidInput
from odf_core.identity import SHA3_256, DatasetId, Multihash
from odf_core.identity.did import KeyDid
from odf_core.metadata import Timestamp
from odf_core.verify.dsse import open_envelope, sign_envelope
from odf_core.verify.findings import Finding, ReplayReport, VerificationReport

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
VERIFICATION = "urn:odf:attestation:verification:v1"
MOST_FINDINGS = 100
_HASH_NAMES = {SHA3_256: "sha3_256"}


class AttestationInvalid(IntegrityError):
    """A signed statement is none about a dataset, or not about the one in question."""

    code: ClassVar[str] = "attestation_invalid"


@dataclass(frozen=True, slots=True)
class Attested:
    """A statement whose signature was good: of whom, about what, and what is said."""

    signer: KeyDid
    dataset_id: DatasetId
    head: Multihash
    predicate_type: str
    predicate: Mapping[str, Any]


def verification_predicate(
    integrity: VerificationReport | None,
    replay: ReplayReport | None,
    *,
    verified_at: Timestamp,
    further: Sequence[Finding] = (),
) -> dict[str, Any]:
    """What a verification found, as JSON; `further` are findings about inputs.

    `verdict` is `valid`, `invalid` (there are errors), or `incomplete`. Of the findings the first 100 are
    told, and how many there are.
    """
    findings = [*further]
    for report in (integrity, replay):
        findings += [] if report is None else report.findings
    reports = [report for report in (integrity, replay) if report is not None]
    is_invalid = any(item.severity == "error" for item in findings)
    is_complete = bool(reports) and not further and all(report.ok for report in reports)
    return {
        "verdict": "invalid" if is_invalid else "valid" if is_complete else "incomplete",
        "verifiedAt": str(verified_at),
        "integrity": None if integrity is None else integrity.summary.to_json(),
        "replay": None if replay is None else replay.summary.to_json(),
        "engines": [] if replay is None else [item.to_json() for item in sorted(replay.summary.engines)],
        "findings": [item.to_json() for item in findings[:MOST_FINDINGS]],
        "numFindings": len(findings),
    }


def attest(
    dataset_id: DatasetId,
    head: Multihash,
    predicate: Mapping[str, Any],
    key: Ed25519PrivateKey,
    *,
    predicate_type: str = VERIFICATION,
) -> dict[str, Any]:
    """The signed envelope of a statement about the chain of a dataset that ends at `head`."""
    text = json.dumps(
        statement(dataset_id, head, predicate, predicate_type=predicate_type),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        allow_nan=False,
    )
    return sign_envelope(PAYLOAD_TYPE, text.encode("ascii"), key)


def statement(
    dataset_id: DatasetId,
    head: Multihash,
    predicate: Mapping[str, Any],
    *,
    predicate_type: str = VERIFICATION,
) -> dict[str, Any]:
    """The in-toto statement; the subject's digest is that of the head block."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": str(dataset_id), "digest": {_HASH_NAMES[head.code]: head.digest.hex()}}],
        "predicateType": predicate_type,
        "predicate": dict(predicate),
    }


def verify_attestation(
    envelope: Mapping[str, Any],
    trusted: Collection[KeyDid],
    *,
    dataset_id: DatasetId | None = None,
    head: Multihash | None = None,
) -> Attested:
    """The statement, if a key of `trusted` has signed it, and if it is about the dataset and head given.

    Raises `EnvelopeInvalid`, `WeakKey`, `AttestationInvalid`.
    """
    opened = open_envelope(envelope, trusted)
    if opened.payload_type != PAYLOAD_TYPE:
        raise AttestationInvalid(
            f"A statement has the type {PAYLOAD_TYPE}, not {opened.payload_type[:80]!r}."
        )
    attested = _attested(opened.payload, opened.signer)
    for name, expected, found in (
        ("dataset", dataset_id, attested.dataset_id),
        ("head", head, attested.head),
    ):
        if expected is not None and expected != found:
            raise AttestationInvalid(f"The statement is about the {name} {found}, not {expected}.")
    return attested


def _attested(payload: bytes, signer: KeyDid) -> Attested:
    try:
        said = json.loads(payload)
        if said["_type"] != STATEMENT_TYPE:
            raise AttestationInvalid(f"A statement has the _type {STATEMENT_TYPE}.")
        (subject,) = said["subject"]
        head = Multihash(SHA3_256, bytes.fromhex(subject["digest"][_HASH_NAMES[SHA3_256]]))
        predicate = said["predicate"]
        if len(head.digest) != 32 or not isinstance(predicate, dict):
            raise AttestationInvalid("A statement has a digest of 32 bytes, and an object as its predicate.")
        return Attested(
            signer, DatasetId.parse(str(subject["name"])), head, str(said["predicateType"]), predicate
        )
    except (ValueError, KeyError, TypeError, RecursionError, InvalidInput) as error:
        raise AttestationInvalid("The signed payload is no statement about one dataset.") from error
