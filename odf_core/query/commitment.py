"""A node's word about an answer: hashes of what was asked and of what came of it, signed (data.md 6)."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from odf_core.errors import IntegrityError, InvalidInput
from odf_core.identity import SHA3_256, Multihash, multibase_decode
from odf_core.identity.did import KeyDid
from odf_core.query.canonical import canonical_json
from odf_core.sha3 import new_sha3

PROOF_TYPE = "Ed25519Signature2020"
UNSUPPORTED_TYPE = "EcdsaSecp256k1Signature2019"
_SIGNATURE_BYTES = 64


class CommitmentMismatch(InvalidInput):
    """A part of an answer does not have the hash that its commitment names; `kind` says which."""

    code: ClassVar[str] = "commitment_mismatch"

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BadProof(IntegrityError):
    """A proof that cannot be read, or whose signature is not that of its key."""

    code: ClassVar[str] = "bad_proof"


class ProofUnsupported(InvalidInput):
    """A proof of a type that is not checked here."""

    code: ClassVar[str] = "proof_unsupported"


@dataclass(frozen=True, slots=True)
class Commitment:
    """Hashes of the parts of an answer, in the canonical form of each."""

    input_hash: Multihash
    output_hash: Multihash
    sub_queries_hash: Multihash

    @classmethod
    def of(cls, asked: Any, output: Any, sub_queries: Sequence[Any] = ()) -> "Commitment":
        """The commitment to JSON values. Raises `NotCanonical`."""
        return cls(json_hash(asked), json_hash(output), json_hash(list(sub_queries)))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Commitment":
        """Reads what `to_json` gave. Raises `InvalidMultihash` and its like, `CommitmentMismatch`."""
        try:
            texts = [str(values[name]) for name in ("inputHash", "outputHash", "subQueriesHash")]
        except KeyError as error:
            raise CommitmentMismatch("InputHash", f"The commitment lacks {error.args[0]}.") from error
        return cls(*map(Multihash.parse, texts))

    def to_json(self) -> dict[str, str]:
        """As answers carry it, and as it is signed."""
        return {
            "inputHash": str(self.input_hash),
            "outputHash": str(self.output_hash),
            "subQueriesHash": str(self.sub_queries_hash),
        }

    def require_parts(self, asked: Any, sub_queries: Sequence[Any]) -> None:
        """Raises `CommitmentMismatch` unless these were committed to."""
        if json_hash(asked) != self.input_hash:
            raise CommitmentMismatch("InputHash", "The input is not what the commitment's hash is of.")
        if json_hash(list(sub_queries)) != self.sub_queries_hash:
            raise CommitmentMismatch(
                "SubQueriesHash", "The sub-queries are not what the commitment's hash is of."
            )


def json_hash(value: Any) -> Multihash:
    """SHA3-256 of a value's canonical JSON. Raises `NotCanonical`."""
    text = canonical_json(value)
    hasher = new_sha3(expected=len(text))
    hasher.update(text)
    return Multihash(SHA3_256, hasher.digest())


def sign(commitment: Commitment, key: Ed25519PrivateKey) -> dict[str, str]:
    """The proof: who says so (`did:key:…`), and the signature over the commitment's canonical JSON."""
    signature = key.sign(canonical_json(commitment.to_json()))
    return {
        "type": PROOF_TYPE,
        "verificationMethod": KeyDid(key.public_key().public_bytes_raw()).to_did_key(),
        "proofValue": "u" + base64.urlsafe_b64encode(signature).decode().rstrip("="),
    }


def require_known_type(proof: Mapping[str, Any]) -> None:
    """Raises `ProofUnsupported` for the type that deployed nodes know besides, `BadProof` for others."""
    kind = proof.get("type")
    if kind == UNSUPPORTED_TYPE:
        raise ProofUnsupported(f"Proofs of the type {kind} are not checked here.")
    if kind != PROOF_TYPE:
        raise BadProof(f"A proof has the type {PROOF_TYPE}, not {str(kind)[:60]!r}.")


def require_signature(commitment: Commitment, proof: Mapping[str, Any]) -> KeyDid:
    """Who signed the commitment. Raises `ProofUnsupported`, `BadProof`."""
    require_known_type(proof)
    try:
        signer = KeyDid.from_did_key(str(proof.get("verificationMethod")))
        signature = multibase_decode(str(proof.get("proofValue")))
    except InvalidInput as error:
        raise BadProof(f"The proof cannot be read: {error.message}") from error
    if len(signature) != _SIGNATURE_BYTES:
        raise BadProof(f"An ed25519 signature has {_SIGNATURE_BYTES} bytes, this one {len(signature)}.")
    try:
        key = Ed25519PublicKey.from_public_bytes(signer.public_key)
        key.verify(signature, canonical_json(commitment.to_json()))
    except (InvalidSignature, ValueError) as error:
        raise BadProof("The signature is not that of the proof's key over this commitment.") from error
    return signer
