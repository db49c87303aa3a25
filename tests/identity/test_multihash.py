"""Varints, multicodecs and multihashes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.identity import (
    ARROW0_SHA3_256,
    SHA2_256,
    SHA3_256,
    InvalidMultihash,
    InvalidVarint,
    Multihash,
    UnknownMulticodec,
    decode_varint,
    encode_varint,
)
from odf_core.identity.multicodec import CODE_NAMES
from tests.vectors import require_vectors

DIGEST = bytes(range(32))
TEXT = "f1620" + DIGEST.hex()


def _vectors(part):
    return json.loads(require_vectors("metadata/multiformats.json").read_text())[part]


def test_vector_codes():
    names = {name: code for code, name in CODE_NAMES.items()}
    for name, case in _vectors("multicodec").items():
        assert names[name] == int(case["code"], 16)
        assert encode_varint(names[name]).hex() == case["varint"]
        assert decode_varint(bytes.fromhex(case["varint"])) == (names[name], len(case["varint"]) // 2)


def test_vector_multihashes():
    for case in _vectors("multihash"):
        value = Multihash.from_bytes(bytes.fromhex(case["bytesHex"]))
        assert CODE_NAMES[value.code] == case["codec"]
        assert value.to_bytes().hex() == case["bytesHex"]
        assert str(value) == case["base16"]
        for encoding in ("base16", "base58btc", "base64url"):
            assert Multihash.parse(case.get(encoding, case["base16"])) == value
        if "short" in case:
            assert value.short == case["short"]
        if "digestOf" in case and "(" not in case["digestOf"]:
            assert Multihash.sha3_256(case["digestOf"].encode()) == value


def test_vector_parse():
    for case in _vectors("multihashParse"):
        if case["ok"]:
            assert str(Multihash.parse(case["text"])) == case.get("canonical", case["text"].lower())
        else:
            with pytest.raises(InvalidMultihash):
                Multihash.parse(case["text"])


def test_text_forms():
    value = Multihash(SHA3_256, DIGEST)
    assert str(value) == TEXT
    assert value.short == "1c1d1e1f"
    assert str(Multihash(ARROW0_SHA3_256, DIGEST)) == "f9680c00120" + DIGEST.hex()
    assert str(Multihash(SHA2_256, DIGEST)) == "f1220" + DIGEST.hex()
    assert Multihash.sha3_256(b"").digest.hex().startswith("a7ffc6f8bf1ed766")


@given(st.sampled_from([SHA2_256, SHA3_256, ARROW0_SHA3_256]), st.binary(min_size=32, max_size=32))
def test_round_trips(code, digest):
    value = Multihash(code, digest)
    assert Multihash.from_bytes(value.to_bytes()) == value == Multihash.parse(str(value))
    assert hash(Multihash.parse(str(value).replace("f", "F", 1).upper())) == hash(value)


def test_equality_needs_code_and_digest():
    assert Multihash(SHA3_256, DIGEST) != Multihash(SHA2_256, DIGEST)
    assert Multihash(SHA3_256, DIGEST) != Multihash(SHA3_256, DIGEST[::-1])
    assert Multihash(SHA3_256, DIGEST) != TEXT


@pytest.mark.parametrize(
    ("data", "defect"),
    [
        (b"", "nothing"),
        (b"\x16", "no length"),
        (b"\x16\x20" + DIGEST[:31], "digest too short"),
        (b"\x16\x20" + DIGEST + b"\x00", "bytes after the digest"),
        (b"\x16\x1f" + DIGEST[:31], "sha3-256 of 31 bytes"),
        (b"\x16\x21" + DIGEST + b"\x00", "sha3-256 of 33 bytes"),
        (b"\x16\x00", "empty digest"),
        (b"\x96\x00\x20" + DIGEST, "varint not minimal"),
        (b"\x16\xa0\x00" + DIGEST, "length not minimal"),
        (b"\x80\x80\x80\x80\x01\x20" + DIGEST, "varint of five bytes"),
        (b"\xff" * 40, "endless varint"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refuses_bytes(data, defect):
    with pytest.raises(InvalidMultihash) as caught:
        Multihash.from_bytes(data)
    assert caught.value.code == "invalid_multihash"


@pytest.mark.parametrize("code", [0x00, 0x01, 0x14, 0x17, 0xED, 0x400000])
def test_refuses_unknown_functions(code):
    with pytest.raises(UnknownMulticodec):
        Multihash.from_bytes(encode_varint(code) + b"\x20" + DIGEST)


@pytest.mark.parametrize(
    "text", ["", "f", TEXT[1:], TEXT + "\n", TEXT[:-1], TEXT[:-1] + "g", TEXT[:-2] + " 0", "f1620" + "ü" * 64]
)
def test_refuses_text(text):
    with pytest.raises(InvalidMultihash):
        Multihash.parse(text)


@given(st.integers(0, 2**28 - 1), st.binary(max_size=3))
def test_varints(value, rest):
    data = encode_varint(value)
    assert decode_varint(rest + data + rest, len(rest)) == (value, len(rest) + len(data))


def test_varint_bounds():
    for value in (-1, 2**28):
        with pytest.raises(InvalidVarint):
            encode_varint(value)
    with pytest.raises(InvalidVarint):
        decode_varint(b"\x80")
