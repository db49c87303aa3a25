"""Signed envelopes (DSSE 1.0) with ed25519: bytes of a named type, and who says so.

The signature covers the pre-authentication encoding of type and payload. A `keyid` is a hint and decides
nothing: a signature counts if it is that of a key that the caller trusts.
"""

import base64
import binascii
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from odf_core.errors import IntegrityError
from odf_core.identity.did import KeyDid
from odf_core.limits import MiB

MOST_PAYLOAD_BYTES = 8 * MiB
_MOST_SIGNATURES = 64
_SIGNATURE_BYTES = 64
_PRIME = 2**255 - 19
_ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
"""The y of a point of order 8; the other such points have it or its negative."""
_SMALL_ORDER = frozenset({0, 1, _PRIME - 1, _ORDER_8, _PRIME - _ORDER_8})


class EnvelopeInvalid(IntegrityError):
    """A signed envelope cannot be read, or no signature of it is that of a trusted key."""

    code: ClassVar[str] = "envelope_invalid"


class WeakKey(IntegrityError):
    """A public key with which signatures of anything can be made: its point has a small order."""

    code: ClassVar[str] = "weak_key"


@dataclass(frozen=True, slots=True)
class Opened:
    """What a trusted key has signed."""

    payload_type: str
    payload: bytes
    signer: KeyDid


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """What is signed: `DSSEv1`, and each part after its length in bytes, with single spaces between."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_envelope(payload_type: str, payload: bytes, key: Ed25519PrivateKey) -> dict[str, Any]:
    """The envelope in its JSON form; `keyid` is the signer's `did:key:…`."""
    signer = KeyDid(key.public_key().public_bytes_raw())
    signature = key.sign(pre_authentication_encoding(payload_type, payload))
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [{"keyid": signer.to_did_key(), "sig": base64.b64encode(signature).decode()}],
    }


def open_envelope(envelope: Mapping[str, Any], trusted: Collection[KeyDid]) -> Opened:
    """What a key of `trusted` has signed, of which nothing was read before.

    Raises `WeakKey` where a trusted key is one, `EnvelopeInvalid`.
    """
    for key in trusted:
        require_strong_key(key)
    kind, payload = envelope.get("payloadType"), _decoded(envelope, "payload", MOST_PAYLOAD_BYTES)
    if not isinstance(kind, str):
        raise EnvelopeInvalid("An envelope needs a payloadType, a text.")
    signed = pre_authentication_encoding(kind, payload)
    for signature in _signatures(envelope):
        for key in trusted:
            if _is_signed(signed, signature, key):
                return Opened(kind, payload, key)
    raise EnvelopeInvalid("No signature of the envelope is that of a trusted key over its payload.")


def require_strong_key(key: KeyDid) -> None:
    """Raises `WeakKey` for a point of small order and for a number that is no canonical point."""
    y = int.from_bytes(key.public_key, "little") & ((1 << 255) - 1)
    if y >= _PRIME or y in _SMALL_ORDER:
        raise WeakKey(
            f"{key.to_did_key()} is no key to trust: anyone can make signatures for it.", objects=[key]
        )


def _is_signed(signed: bytes, signature: bytes, key: KeyDid) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key.public_key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def _signatures(envelope: Mapping[str, Any]) -> list[bytes]:
    listed = envelope.get("signatures")
    if not isinstance(listed, list) or not listed or len(listed) > _MOST_SIGNATURES:
        raise EnvelopeInvalid(f"An envelope has a list of 1 to {_MOST_SIGNATURES} signatures.")
    if not all(isinstance(item, Mapping) for item in listed):
        raise EnvelopeInvalid("A signature of an envelope is an object with keyid and sig.")
    return [_decoded(item, "sig", _SIGNATURE_BYTES) for item in listed]


def _decoded(values: Mapping[str, Any], name: str, most: int) -> bytes:
    """Base64, of either alphabet as DSSE asks."""
    text = values.get(name)
    if not isinstance(text, str) or len(text) > most * 4 // 3 + 4:
        raise EnvelopeInvalid(f"An envelope needs {name}, a text in base64 for at most {most} bytes.")
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise EnvelopeInvalid(f"The {name} of an envelope is no base64: {error}.") from error
