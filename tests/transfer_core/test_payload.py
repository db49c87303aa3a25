"""Payloads inside JSON: arrays of numbers and base64 (stack.md 4.4)."""

import base64
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.transfer.errors import MalformedMessage, MessageTooLarge
from odf_core.transfer.payload import (
    Base64String,
    NumberArray,
    decode_base64_string,
    decode_number_array,
    number_array_size,
)

payloads = st.one_of(
    st.binary(max_size=300),
    st.integers(0, 150_000).map(lambda size: bytes(value % 256 for value in range(size))),
)
PIECE = 48 * 1024


@given(payloads)
def test_numbers_round_trip(data):
    array = NumberArray(data)
    text = b"".join(array.chunks())
    assert json.loads(text) == list(data)
    assert len(text) == array.size
    assert decode_number_array(text, len(data)) == data


@given(payloads)
def test_base64_round_trip(data):
    string = Base64String(data)
    text = b"".join(string.chunks())
    assert base64.b64decode(json.loads(text), validate=True) == data
    assert len(text) == string.size
    assert decode_base64_string(text, len(data)) == data


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 5])
def test_pieces_join_at_their_edges(size):
    data = bytes(255 - index % 256 for index in range(size))
    assert decode_number_array(b"".join(NumberArray(data).chunks()), size) == data
    assert decode_base64_string(b"".join(Base64String(data).chunks()), size) == data


def test_text_is_as_the_deployed_peer_writes_it():
    assert b"".join(NumberArray(bytes([31, 139, 8, 0, 255])).chunks()) == b"[31,139,8,0,255]"
    assert b"".join(NumberArray(b"").chunks()) == b"[]"
    assert b"".join(Base64String(bytes([31, 139, 8])).chunks()) == b'"H4sI"'
    assert number_array_size(bytes([1, 10, 100])) == len("1,10,100,")


def test_pieces_are_small_and_can_be_made_again():
    array = NumberArray(bytes([255]) * 1_000_000)
    assert max(map(len, array.chunks())) <= 256 * 1024
    assert b"".join(array.chunks()) == b"".join(array.chunks())


@given(st.lists(st.integers(0, 255), max_size=50), st.sampled_from(["", " ", "\n\t", "\r\n    "]))
def test_white_space_between_numbers(values, space):
    text = "[" + space + f"{space},{space}".join(map(str, values)) + space + "]"
    assert decode_number_array(text.encode(), 50) == bytes(values)


MALFORMED = {
    "empty": "",
    "no array": "1,2",
    "string": '"H4sI"',
    "object": '{"0":1}',
    "null": "null",
    "open": "[1,2",
    "only open": "[",
    "too large number": "[1,256]",
    "negative number": "[-1]",
    "fraction": "[1.5]",
    "whole fraction": "[1.0]",
    "exponent": "[1e2]",
    "huge number": "[" + "9" * 5000 + "]",
    "leading zero": "[01]",
    "plus": "[+1]",
    "word": "[true]",
    "null in it": "[1,null]",
    "string in it": '[1,"2"]',
    "nested": "[1,[2]]",
    "array of array": "[[1,2]]",
    "two arrays": "[1][2]",
    "comma first": "[,1]",
    "comma last": "[1,]",
    "two commas": "[1,,2]",
    "only comma": "[,]",
    "comment": "[1/*x*/,2]",
    "deep": "[" * 100_000 + "]" * 100_000,
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED.keys())
def test_not_an_array_of_bytes(text):
    with pytest.raises(MalformedMessage):
        decode_number_array(text.encode(), 10**6)


@pytest.mark.parametrize("defect", ["256", "", "1.0", '"1"', "x"])
@pytest.mark.parametrize("position", [0, 21_845, 21_846, 65_536, 99_999])
def test_defects_are_found_at_every_piece(defect, position):
    values = ["10"] * 100_000
    values[position] = defect
    with pytest.raises(MalformedMessage):
        decode_number_array(f"[{','.join(values)}]".encode(), 10**6)


def test_a_flood_of_white_space():
    with pytest.raises(MalformedMessage):
        decode_number_array(b"[1," + b" " * 200_000 + b"2]", 10)


def test_too_many_bytes_are_not_collected():
    text = b"".join(NumberArray(bytes(5_000_000)).chunks())
    tracemalloc.start()
    try:
        with pytest.raises(MessageTooLarge):
            decode_number_array(text, 100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000


def test_memory_is_near_the_size_of_the_result():
    data = bytes(range(256)) * 16_000
    text = b"".join(NumberArray(data).chunks())
    tracemalloc.start()
    try:
        decode_number_array(text, len(data))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(data)


NO_BASE64 = {
    "array": "[1]",
    "without quotes": "H4sI",
    "without padding": '"H4s"',
    "url alphabet": '"_-8="',
    "white space": '"H4sI\\nH4sI"',
    "data behind padding": '"H4s=H4sI"',
    "not ASCII": '"ÄÖÜß"',
}


@pytest.mark.parametrize("text", NO_BASE64.values(), ids=NO_BASE64.keys())
def test_not_base64(text):
    with pytest.raises(MalformedMessage):
        decode_base64_string(text.encode(), 10**6)


def test_base64_with_json_escapes():
    assert decode_base64_string(b'"\\/\\/8="', 10) == b"\xff\xff"


def test_base64_beyond_the_limit():
    with pytest.raises(MessageTooLarge):
        decode_base64_string(b'"' + b"AAAA" * 100 + b'"', 200)
