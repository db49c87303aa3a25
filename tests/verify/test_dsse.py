"""Envelopes against the text of DSSE: the encoding that is signed, and whose signatures count."""

import base64
import itertools

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from odf_core.identity.did import KeyDid
from odf_core.verify.dsse import (
    EnvelopeInvalid,
    WeakKey,
    open_envelope,
    pre_authentication_encoding,
    require_strong_key,
    sign_envelope,
)

# RFC 8032, 7.1, TEST 1.
SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
KEY = Ed25519PrivateKey.from_private_bytes(SECRET)
SIGNER = KeyDid(PUBLIC)
TYPE = "http://example.com/HelloWorld"


def envelope(**fields):
    return sign_envelope(TYPE, b"hello world", KEY) | fields


@pytest.mark.parametrize(
    ("kind", "payload", "encoded"),
    [
        (TYPE, b"hello world", b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"),
        ("", b"", b"DSSEv1 0  0 "),
        ("t", b"a b\n\x00\xff", b"DSSEv1 1 t 6 a b\n\x00\xff"),
        ("naïve", "ü".encode(), b"DSSEv1 6 na\xc3\xafve 2 \xc3\xbc"),
        ("x", b"1" * 10, b"DSSEv1 1 x 10 1111111111"),
    ],
)
def test_the_encoding_that_is_signed(kind, payload, encoded):
    assert pre_authentication_encoding(kind, payload) == encoded


def test_an_envelope_has_the_form_of_the_specification():
    made = envelope()
    assert set(made) == {"payload", "payloadType", "signatures"}
    assert (made["payload"], made["payloadType"]) == ("aGVsbG8gd29ybGQ=", TYPE)
    (signature,) = made["signatures"]
    assert signature["keyid"] == SIGNER.to_did_key()
    Ed25519PublicKey.from_public_bytes(PUBLIC).verify(
        base64.b64decode(signature["sig"]), b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_what_a_trusted_key_signed_is_opened():
    opened = open_envelope(envelope(), [SIGNER])
    assert (opened.payload_type, opened.payload, opened.signer) == (TYPE, b"hello world", SIGNER)


def test_both_alphabets_of_base64_are_read():
    payload = b"\xfb\xef\xff"
    made = sign_envelope("t", payload, KEY)
    assert "+" in made["payload"]
    for values in (made, *made["signatures"]):
        for name in ("payload", "sig"):
            if name in values:
                values[name] = values[name].replace("+", "-").replace("/", "_")
    assert open_envelope(made, [SIGNER]).payload == payload


def test_the_key_id_decides_nothing():
    made = envelope()
    made["signatures"][0]["keyid"] = "somebody else"
    assert open_envelope(made, [SIGNER]).signer == SIGNER
    del made["signatures"][0]["keyid"]
    assert open_envelope(made, [SIGNER]).signer == SIGNER


def test_one_good_signature_among_others_is_enough():
    made = envelope()
    other = sign_envelope(TYPE, b"hello world", Ed25519PrivateKey.generate())
    made["signatures"] = other["signatures"] + made["signatures"]
    assert open_envelope(made, [SIGNER]).signer == SIGNER


@pytest.mark.parametrize(
    "fields",
    [
        {"payload": base64.b64encode(b"hello worlD").decode()},
        {"payloadType": "http://example.com/HelloWorle"},
        {"payloadType": None},
        {"payload": "no base64!"},
        {"payload": "aGVsbG8"},
        {"payload": 5},
        {"signatures": []},
        {"signatures": None},
        {"signatures": ["text"]},
        {"signatures": [{}]},
        {"signatures": [{"sig": "AAAA"}]},
        {"signatures": [{"sig": "A" * 1000}]},
        {"signatures": [{"sig": base64.b64encode(bytes(64)).decode()}]},
        {"signatures": [{"sig": base64.b64encode(bytes(64)).decode()}] * 65},
    ],
)
def test_envelopes_that_nobody_signed(fields):
    with pytest.raises(EnvelopeInvalid):
        open_envelope(envelope(**fields), [SIGNER])


def test_a_key_that_is_not_trusted():
    other = KeyDid(Ed25519PrivateKey.generate().public_key().public_bytes_raw())
    for trusted in ([], [other]):
        with pytest.raises(EnvelopeInvalid, match="trusted"):
            open_envelope(envelope(), trusted)


# Points of small order, by arithmetic on the curve that shares nothing with the code.

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P


def points(y):
    """The points with this y, from -x^2 + y^2 = 1 + d x^2 y^2."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    return {(x, y), (-x % P, y)} if x * x % P == square else set()


def added(one, two):
    (x1, y1), (x2, y2) = one, two
    product = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + y1 * x2) * pow(1 + product, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


def small_points():
    """All eight: what is left of points when the large prime factor of their order is taken out."""
    order = 2**252 + 27742317777372353535851937790883648493
    for y in itertools.count(2):
        for start in points(y):
            left, power, rest = (0, 1), start, order
            while rest:
                if rest & 1:
                    left = added(left, power)
                power, rest = added(power, power), rest >> 1
            found = [(0, 1)]
            while (following := added(found[-1], left)) != (0, 1):
                found.append(following)
            if len(found) == 8:
                return found
    raise AssertionError


def encoded(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


@pytest.mark.parametrize("point", small_points())
def test_keys_of_small_order_are_refused(point):
    with pytest.raises(WeakKey):
        require_strong_key(KeyDid(encoded(point)))


@pytest.mark.parametrize("y", [P, P + 1, 2**255 - 1])
@pytest.mark.parametrize("sign", [0, 1])
def test_numbers_that_are_no_canonical_point_are_refused(y, sign):
    with pytest.raises(WeakKey):
        require_strong_key(KeyDid((y | sign << 255).to_bytes(32, "little")))


def test_a_weak_key_signs_whatever_one_likes():
    """Why: with the neutral element as key and as R, and S = 0, the equation holds for every message."""
    neutral = encoded((0, 1))
    forged = neutral + bytes(32)
    Ed25519PublicKey.from_public_bytes(neutral).verify(forged, b"anything")
    made = envelope(signatures=[{"sig": base64.b64encode(forged).decode()}])
    with pytest.raises(WeakKey):
        open_envelope(made, [KeyDid(neutral)])
    with pytest.raises(EnvelopeInvalid):
        open_envelope(made, [SIGNER])


def test_usual_keys_are_strong():
    for _ in range(20):
        require_strong_key(KeyDid(Ed25519PrivateKey.generate().public_key().public_bytes_raw()))
