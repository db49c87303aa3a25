"""Blocks from strangers: whatever the bytes, the answer is a block or one of our errors."""

import random
import struct

import pytest

from odf_core.errors import OdfError
from odf_core.identity import InvalidDid, InvalidMultihash, InvalidReference
from odf_core.limits import Limits
from odf_core.metadata import (
    AddPushSource,
    InvalidTimestamp,
    LegacyBlock,
    MalformedBlock,
    MergeStrategyAppend,
    NestingTooDeep,
    ReadStepCsv,
    SetInfo,
    UnsupportedMember,
    decode_block,
    encode_block,
    read_block,
)
from odf_core.metadata.codec.builder import Builder
from odf_core.metadata.codec.wrapper import wrap
from odf_core.metadata.events import EVENT_TYPE
from tests.metadata.sample_blocks import BLOCKS

TIME = struct.pack("<iHxxII", 2024, 1, 0, 0)
MAP, OPTION, NULL = 18, 20, 19
DATA = [encode_block(block, version) for block in BLOCKS for version in (2, 3)]


def in_block(
    builder: Builder, event: int, kind: str | int, *, time: bytes = TIME, extra_slot: bool = False
) -> bytes:
    """A block file around an event table that the builder already holds."""
    builder.start_table()
    builder.struct(0, time, 4)
    builder.scalar(3, bytes([EVENT_TYPE[kind] if isinstance(kind, str) else kind]))
    builder.offset(4, event)
    if extra_slot:
        builder.scalar(7, struct.pack("<Q", 1))
    return wrap(builder.finish(builder.end_table()), 3)


def table(builder: Builder, *offsets: tuple[int, int], scalars: tuple[tuple[int, bytes], ...] = ()) -> int:
    builder.start_table()
    for slot, data in scalars:
        builder.scalar(slot, data)
    for slot, target in offsets:
        builder.offset(slot, target)
    return builder.end_table()


def schema_of_type(builder: Builder, number: int, data_type: int) -> int:
    """SetDataSchema with one field of a type that the builder already holds."""
    name = builder.string(b"x")
    builder.start_table()
    builder.offset(0, name)
    builder.scalar(1, bytes([number]))
    builder.offset(2, data_type)
    fields = builder.offset_vector([builder.end_table()])
    schema = table(builder, (0, fields))
    return table(builder, (1, schema))


def test_every_truncation_is_refused_or_read() -> None:
    for data in DATA:
        for end in range(len(data)):
            with pytest.raises(OdfError):
                decode_block(data[:end])


def test_flipped_bits_and_words_give_a_block_or_an_error() -> None:
    rng = random.Random(20261121)
    special = [
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"\xff\xff\xff\x7f",
        b"\0\0\0\x80",
        b"\4\0\0\0",
        b"\xf0\xff\xff\xff",
    ]
    outcomes = {True: 0, False: 0}
    for _ in range(30_000):
        data = bytearray(rng.choice(DATA))
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            position = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[position] ^= 1 << rng.randrange(8)
            else:
                word = position & ~3
                data[word : word + 4] = rng.choice(special)[: len(data) - word]
        try:
            read_block(bytes(data))
            outcomes[True] += 1
        except OdfError:
            outcomes[False] += 1
    assert min(outcomes.values()) > 1000


def test_random_bytes_are_refused() -> None:
    rng = random.Random(7)
    for size in range(200):
        with pytest.raises(OdfError):
            read_block(rng.randbytes(size))


def test_unknown_later_slots_are_passed_over() -> None:
    builder = Builder()
    text = builder.string(b"hello")
    event = table(builder, (0, text), (5, text))
    block = read_block(in_block(builder, event, "SetInfo", extra_slot=True))
    assert block.block.event == SetInfo(description="hello")


@pytest.mark.parametrize("number", [14, 200])
def test_unknown_events_are_named(number: int) -> None:
    builder = Builder()
    with pytest.raises(UnsupportedMember) as caught:
        read_block(in_block(builder, table(builder), number))
    assert caught.value.extras == {"union": "MetadataEvent", "number": number}


def test_unknown_members_and_enumeration_numbers_are_named() -> None:
    builder = Builder()
    with pytest.raises(UnsupportedMember) as caught:
        read_block(in_block(builder, schema_of_type(builder, 25, table(builder)), "SetDataSchema"))
    assert caught.value.extras == {"union": "DataType", "number": 25}
    builder = Builder()
    identity = builder.byte_vector(b"\xed\x01" + bytes(32))
    seed = table(builder, (0, identity), scalars=((1, struct.pack("<i", 2)),))
    with pytest.raises(UnsupportedMember) as caught:
        read_block(in_block(builder, seed, "Seed"))
    assert caught.value.extras == {"enum": "DatasetKind", "number": 2}


def test_union_type_none_means_absence() -> None:
    builder = Builder()
    name, item = builder.string(b"s"), table(builder)
    builder.start_table()
    builder.offset(0, name)
    builder.scalar(1, b"\1")
    builder.offset(2, item)
    builder.scalar(3, b"\0")
    builder.scalar(5, b"\1")
    builder.offset(6, item)
    source = builder.end_table()
    assert read_block(in_block(builder, source, "AddPushSource")).block.event == AddPushSource(
        source_name="s", read=ReadStepCsv(), merge=MergeStrategyAppend()
    )


def test_missing_required_parts_are_named() -> None:
    builder = Builder()
    with pytest.raises(MalformedBlock, match=r"Seed\.dataset_id is missing"):
        read_block(in_block(builder, table(builder), "Seed"))
    builder = Builder()
    with pytest.raises(MalformedBlock, match=r"MetadataBlock\.system_time is missing"):
        read_block(wrap(builder.finish(table(builder)), 3))


def test_nesting_is_bounded() -> None:
    def nested(levels: int) -> bytes:
        builder = Builder()
        number, inner = NULL, table(builder)
        for _ in range(levels):
            number, inner = OPTION, table(builder, (1, inner), scalars=((0, bytes([number])),))
        return in_block(builder, schema_of_type(builder, number, inner), "SetDataSchema")

    assert read_block(nested(50)).block
    with pytest.raises(NestingTooDeep):
        read_block(nested(100))
    with pytest.raises(NestingTooDeep):
        read_block(nested(50), limits=Limits(nesting_depth=20))
    with pytest.raises(NestingTooDeep):
        read_block(nested(20_000))


def test_references_that_meet_do_not_unfold_without_end() -> None:
    builder = Builder()
    number, inner = NULL, table(builder)
    for _ in range(40):
        types = ((0, bytes([number])), (2, bytes([number])))
        number, inner = MAP, table(builder, (1, inner), (3, inner), scalars=types)
    with pytest.raises(MalformedBlock, match="so often"):
        read_block(in_block(builder, schema_of_type(builder, number, inner), "SetDataSchema"))
    builder = Builder()
    long = builder.string(b"x" * 10_000)
    keywords = builder.offset_vector([long] * 10_000)
    event = table(builder, (1, keywords))
    with pytest.raises(MalformedBlock, match="so often"):
        read_block(in_block(builder, event, "SetInfo"))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\xed\x01" + bytes(31), InvalidDid),
        (b"\xed\x02" + bytes(32), InvalidDid),
        (b"", InvalidDid),
        (b"\x01\xed\x01\x16\x20" + bytes(32), LegacyBlock),
    ],
)
def test_identifiers_are_checked(content: bytes, error: type[OdfError]) -> None:
    builder = Builder()
    seed = table(builder, (0, builder.byte_vector(content)))
    with pytest.raises(error):
        read_block(in_block(builder, seed, "Seed"))


@pytest.mark.parametrize(
    "content", [b"", b"\x16", b"\x16\x20" + bytes(31), b"\x12\x21" + bytes(33), b"\x55\x01a"]
)
def test_hashes_are_checked(content: bytes) -> None:
    builder = Builder()
    event = table(builder, (0, builder.byte_vector(content)))
    with pytest.raises(InvalidMultihash):
        read_block(in_block(builder, event, "AddData"))


def test_texts_are_checked() -> None:
    builder = Builder()
    event = table(builder, (0, builder.string(b"\xff\xfe")))
    with pytest.raises(MalformedBlock, match="UTF-8"):
        read_block(in_block(builder, event, "SetInfo"))
    builder = Builder()
    event = table(builder, (0, builder.string(b"\xed\xa0\x80")))
    with pytest.raises(MalformedBlock, match="UTF-8"):
        read_block(in_block(builder, event, "SetInfo"))
    builder = Builder()
    reference = table(builder, (0, builder.string(b"no name!")))
    sql = table(builder, (0, builder.string(b"engine")))
    inputs = builder.offset_vector([reference])
    event = table(builder, (0, inputs), (2, sql), scalars=((1, b"\1"),))
    with pytest.raises(InvalidReference):
        read_block(in_block(builder, event, "SetTransform"))


@pytest.mark.parametrize(
    "numbers",
    [
        (2023, 366, 0, 0),
        (2024, 0, 0, 0),
        (2024, 1, 86_400, 0),
        (2024, 1, 0, 1_000_000_000),
        (2024, 1, 59, 2_000_000_000),
        (300_000, 1, 0, 0),
    ],
)
def test_moments_that_do_not_exist_are_refused(numbers: tuple[int, int, int, int]) -> None:
    builder = Builder()
    with pytest.raises(InvalidTimestamp):
        read_block(in_block(builder, table(builder), "SetInfo", time=struct.pack("<iHxxII", *numbers)))


def test_another_kind_of_manifest_is_refused() -> None:
    data = DATA[0]
    changed = data[:32] + struct.pack("<q", 0x400001) + data[40:]
    with pytest.raises(MalformedBlock, match="kind is 0x400001"):
        read_block(changed)


def test_sequence_number_of_four_bytes_marks_the_older_layout() -> None:
    builder = Builder()
    text, previous = builder.string(b"x"), builder.byte_vector(b"\x16\x20" + bytes(32))
    event = table(builder, (0, text))
    builder.start_table()
    builder.struct(0, TIME, 1)
    builder.offset(1, previous)
    builder.scalar(2, struct.pack("<i", 5))
    builder.scalar(3, b"\x09")
    builder.offset(4, event)
    with pytest.raises(LegacyBlock):
        read_block(wrap(builder.finish(builder.end_table()), 2))
