"""Offset, block or system time, and the last record that a dataset had then."""

from datetime import timedelta

import pytest

from odf_core.chain import NO_RECORDS, AsOfInvalid, AsOfNotFound, offset_as_of, parse_as_of, parse_moment
from odf_core.identity import Multihash
from odf_core.metadata import InvalidTimestamp, Timestamp
from tests.builders.chain_builder import FIRST_TIME, chain

HISTORY = chain("cities").seed().polling_source().schema().add_data(10).info("more").add_data(5)
BLOCKS = HISTORY.blocks
"""A block each second: no records up to the third, offsets up to 9 from the fourth on, up to 14 at last."""


def as_of(text: str, *, is_time: bool = False) -> int:
    return offset_as_of(reversed(BLOCKS), parse_as_of(text, is_time=is_time), "cities")


def at_second(number: float) -> str:
    return str(Timestamp.from_datetime(FIRST_TIME + timedelta(seconds=number)))


def test_a_text_is_an_offset_a_block_or_a_time() -> None:
    assert parse_as_of("012") == 12
    assert parse_as_of(str(BLOCKS[0].hash)) == BLOCKS[0].hash
    noon = Timestamp.parse("2024-01-01T12:00:00Z")
    for text in ("2024-01-01T12:00:00Z", "2024-01-01T13:00:00+01:00", "2024-01-01 12:00:00.0"):
        assert parse_as_of(text) == parse_moment(text) == noon
    assert parse_as_of("2024-01-01") == Timestamp.parse("2024-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "text", ["", "-1", "٣", "now", "9" * 30, "f1620zz", "2024-13-01", "2024-01-01T25:00:00Z"]
)
def test_what_is_none_of_them(text: str) -> None:
    with pytest.raises(AsOfInvalid, match="is no"):
        parse_as_of(text)
    with pytest.raises(AsOfInvalid, match="is no time"):
        parse_as_of("12", is_time=True)


def test_the_last_offset_as_of_each_block_and_its_time() -> None:
    expected = [NO_RECORDS, NO_RECORDS, NO_RECORDS, 9, 9, 14]
    assert [as_of(str(block.hash)) for block in BLOCKS] == expected
    assert [as_of(str(block.block.system_time), is_time=True) for block in BLOCKS] == expected
    assert [as_of(at_second(number + 0.5)) for number in range(6)] == expected
    assert as_of("9999-01-01") == 14
    assert [as_of(str(offset)) for offset in (0, 9, 14)] == [0, 9, 14]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("15", "no offset 15: its last record has offset 14"),
        (str(Multihash.sha3_256(b"x")), "has no block f1620"),
        ("2023-12-31", "was not there as of 2023-12-31T00:00:00Z: it begins at 2024-01-01T00:00:00Z"),
    ],
)
def test_what_a_dataset_does_not_have_is_no_answer(text: str, words: str) -> None:
    with pytest.raises(AsOfNotFound, match=words):
        as_of(text)


def test_a_dataset_without_records() -> None:
    blocks = BLOCKS[:3]
    assert offset_as_of(reversed(blocks), blocks[1].hash, "x") == NO_RECORDS
    with pytest.raises(AsOfNotFound, match="has no records yet"):
        offset_as_of(reversed(blocks), 0, "x")
    with pytest.raises(AsOfNotFound, match="has no block yet"):
        offset_as_of([], parse_moment("2024-01-01"), "x")


def test_a_moment_in_milliseconds() -> None:
    assert parse_moment("1970-01-01T00:00:01.0019Z").milliseconds() == 1001
    assert parse_moment("1969-12-31T23:59:59.9999Z").milliseconds() == -1
    with pytest.raises(InvalidTimestamp):
        Timestamp.parse("+10000-01-01T00:00:00Z").milliseconds()
