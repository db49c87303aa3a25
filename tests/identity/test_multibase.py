"""Multibase: the final encodings, and nothing that is not canonical."""

import base64
import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.identity import InvalidMultibase, multibase_decode, multibase_encode
from odf_core.identity.base58 import base58_encode
from odf_core.identity.multibase import FINAL_ENCODINGS, MAX_MULTIBASE_CHARS

WRITERS = {
    "f": lambda data: data.hex(),
    "F": lambda data: data.hex().upper(),
    "b": lambda data: base64.b32encode(data).decode().rstrip("=").lower(),
    "B": lambda data: base64.b32encode(data).decode().rstrip("="),
    "z": base58_encode,
    "m": lambda data: base64.b64encode(data).decode().rstrip("="),
    "u": lambda data: base64.urlsafe_b64encode(data).decode().rstrip("="),
    "U": lambda data: base64.urlsafe_b64encode(data).decode(),
}


def test_the_final_encodings_are_all_there():
    assert sorted(WRITERS) == sorted(FINAL_ENCODINGS)


@given(st.binary(max_size=100), st.sampled_from(sorted(WRITERS)))
def test_reads_what_other_writers_write(data, prefix):
    assert multibase_decode(prefix + WRITERS[prefix](data)) == data


@given(st.binary(max_size=100))
def test_writes_base16_in_lower_case(data):
    assert multibase_encode(data) == "f" + binascii.hexlify(data).decode()


# The example of the multibase specification ("yes mani !"), in each encoding, and its spelled-out forms.
@pytest.mark.parametrize(
    "text",
    [
        "f796573206d616e692021",
        "F796573206D616E692021",
        "f796573206D616e692021",
        "bpfsxgidnmfxgsibb",
        "BPFSXGIDNMFXGSIBB",
        "bPfSxGiDnMfXgSiBb",
        "z7paNL19xttacUY",
        "meWVzIG1hbmkgIQ",
        "ueWVzIG1hbmkgIQ",
        "UeWVzIG1hbmkgIQ==",
    ],
)
def test_published_example(text):
    assert multibase_decode(text) == b"yes mani !"


@given(st.text(alphabet="fFbBzmuU0123456789abcdefABCDEF+/=-_ \n", max_size=20))
def test_one_text_per_encoding(text):
    """Whatever is accepted is what the encoding's writer makes of the bytes, but for the case of letters."""
    try:
        data = multibase_decode(text)
    except InvalidMultibase:
        return
    written = WRITERS[text[0]](data)
    if text[0] in "fFbB":
        assert text[1:].lower() == written.lower()
    else:
        assert text[1:] == written


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        ("", "empty"),
        ("162008", "no prefix"),
        ("xASDSAD", "unknown prefix"),
        ("k2lcpzo5yikidynfl", "base36 is a draft"),
        ("Z7Pznk19XTTzBtx", "base58flickr is experimental"),
        ("cpfsxgidnmfxgsibb", "base32pad is a draft"),
        ("MeWVzIG1hbmkgIQ==", "base64pad is experimental"),
        ("🚀", "base256emoji is experimental"),
        ("f796", "odd number of hexadecimal digits"),
        ("f79 65", "white space in base16"),
        ("f7965\n", "trailing newline"),
        (" f7965", "leading space"),
        ("f79zz", "not hexadecimal"),
        ("f٣٣", "digits of another script"),
        ("b162008", "not in base32"),
        ("ba", "no byte string has one base32 digit"),
        ("baaa", "no byte string has three base32 digits"),
        ("bab", "left-over bits in base32"),
        ("bpfsxgidnmfxgsibb======", "padding in base32 without it"),
        ("zl", "l is not in base58"),
        ("z0", "0 is not in base58"),
        ("ma", "one base64 digit"),
        ("mab", "left-over bits in base64"),
        ("meWVzIG1hbmkgIQ==", "padding in base64 without it"),
        ("m_-", "url alphabet in base64"),
        ("u+/", "plain alphabet in base64url"),
        ("ueWVzIG1hbmkgIQ==", "padding in base64url without it"),
        ("UeWVzIG1hbmkgIQ", "padding missing in base64urlpad"),
        ("UeWVzIG1hbmkgIQ=", "too little padding"),
        ("UeWVz====", "padding where none is due"),
        ("UeWVz=A==", "padding in the middle"),
        ("f" + "0" * MAX_MULTIBASE_CHARS, "too long"),
        ("z" + "1" * 10_000_000, "far too long"),
    ],
    ids=lambda value: value if len(value) < 80 else "long",
)
def test_refuses(text, defect):
    with pytest.raises(InvalidMultibase) as caught:
        multibase_decode(text)
    assert caught.value.code == "invalid_multibase"
    assert len(caught.value.message) < 400
