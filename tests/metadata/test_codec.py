"""The binary form: own literals, round trips, and a second writer."""

import struct
from dataclasses import replace
from typing import Any, cast
from unittest import mock

import pytest
from hypothesis import given, settings

from odf_core.identity import DatasetId, Multihash
from odf_core.limits import Limits
from odf_core.metadata import (
    AddData,
    BlockHashMismatch,
    BlockTooLarge,
    DataField,
    DataSchema,
    DatasetKind,
    DataTypeTime,
    MetadataBlock,
    ObsoleteManifestVersion,
    OffsetInterval,
    Seed,
    SetDataSchema,
    SetInfo,
    Timestamp,
    TimeUnit,
    UnsupportedManifestVersion,
    ValueNotEncodable,
    decode_block,
    encode_block,
    make_block,
    read_block,
)
from odf_core.metadata.codec import encode
from odf_core.metadata.codec.encode import encode_content
from tests.metadata.flatbuffers_builder import LibraryBuilder
from tests.metadata.model_strategies import blocks
from tests.metadata.sample_blocks import BLOCKS, TIME

SEED = MetadataBlock(
    system_time=Timestamp(2024, 12, 84061, 449684944),
    sequence_number=0,
    event=Seed(dataset_id=DatasetId(b"\xaa" * 32), dataset_kind=DatasetKind.DERIVATIVE),
)
# Laid out by hand after metadata.md 2.5; the key is another one.
SEED_BYTES = bytes.fromhex(
    "14000000 0000 0000 0000"
    "0a00 1400 0c00 0800 0400"
    "0a000000 10000000 02000000 0000400000000000"
    "6c000000"
    "14000000 0000"
    "0e00 1c00 0c00 0000 0000 0b00 0400"
    "0e000000 20000000 000000 03"
    "e8070000 0c00 0000 5d480100 d0a5cd1a"
    "0800 0c00 0800 0400"
    "08000000 01000000 04000000"
    "22000000 ed01" + "aa" * 32 + "0000"
)


def test_seed_of_version_2_is_the_worked_example() -> None:
    assert encode_block(SEED, 2) == SEED_BYTES
    assert decode_block(SEED_BYTES).block == SEED
    assert decode_block(SEED_BYTES).version == 2


def test_new_blocks_have_version_2_unless_told_otherwise() -> None:
    assert make_block(SEED).data == SEED_BYTES
    assert decode_block(make_block(SEED, 3).data).version == 3


def test_versions_differ_in_the_alignment_of_the_timestamp() -> None:
    block = MetadataBlock(system_time=TIME, sequence_number=0, event=SetInfo(description="foo"))
    assert len(encode_block(block, 2)) == 112
    assert len(encode_block(block, 3)) == 120
    assert decode_block(encode_block(block, 2)).block == decode_block(encode_block(block, 3)).block == block


def test_required_zero_is_left_out_and_optional_zero_is_not() -> None:
    absent = replace(SEED, event=AddData())
    zero = replace(SEED, event=AddData(prev_offset=0))
    assert len(encode_block(zero)) > len(encode_block(absent))
    assert decode_block(encode_block(zero)).block == zero
    root = replace(SEED, event=Seed(dataset_id=DatasetId(bytes(32)), dataset_kind=DatasetKind.ROOT))
    assert len(encode_block(root)) < len(encode_block(SEED))
    unset, second = (
        replace(SEED, event=SetDataSchema(schema=DataSchema(fields=(DataField(name="t", type=kind),))))
        for kind in (DataTypeTime(), DataTypeTime(unit=TimeUnit.SECOND))
    )
    assert decode_block(encode_block(second)).block == second != decode_block(encode_block(unset)).block


def test_absent_and_empty_differ() -> None:
    forms = [SetInfo(), SetInfo(description=""), SetInfo(keywords=()), SetInfo(description="", keywords=())]
    made = [make_block(replace(SEED, event=form)) for form in forms]
    assert len({block.hash for block in made}) == len(forms)
    assert [decode_block(block.data).block.event for block in made] == forms


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block.event).__name__)
def test_every_event_survives_in_both_versions(block: MetadataBlock, version: int) -> None:
    made = make_block(block, version)
    assert read_block(made.data, made.hash) == made


@settings(max_examples=150)
@given(blocks)
def test_random_blocks_survive(block: MetadataBlock) -> None:
    for version in (2, 3):
        data = encode_block(block, version)
        decoded = decode_block(data)
        assert decoded.block == block
        assert encode_block(decoded.block, decoded.version) == data


@settings(max_examples=100)
@given(blocks)
def test_the_flatbuffers_library_writes_the_same_bytes(block: MetadataBlock) -> None:
    for version in (2, 3):
        ours = encode_content(block, version)
        with mock.patch.object(encode, "Builder", LibraryBuilder):
            assert encode_content(block, version) == ours


def test_hash_is_compared_with_the_name() -> None:
    other = Multihash.sha3_256(b"")
    with pytest.raises(BlockHashMismatch) as caught:
        read_block(SEED_BYTES, other)
    assert caught.value.objects == (str(other),)
    assert caught.value.extras["found"] == str(Multihash.sha3_256(SEED_BYTES))


@pytest.mark.parametrize(
    ("version", "error"),
    [
        (0, ObsoleteManifestVersion),
        (1, ObsoleteManifestVersion),
        (4, UnsupportedManifestVersion),
        (-1, ObsoleteManifestVersion),
    ],
)
def test_other_versions_are_named_and_refused(version: int, error: type[Exception]) -> None:
    changed = SEED_BYTES[:28] + struct.pack("<i", version) + SEED_BYTES[32:]
    with pytest.raises(error, match=f"version {version};"):
        decode_block(changed)
    with pytest.raises(error):
        encode_block(SEED, version)


def test_size_is_bounded_before_anything_is_read() -> None:
    with pytest.raises(BlockTooLarge):
        read_block(bytes(1001), limits=Limits(block_bytes=1000))
    with pytest.raises(BlockTooLarge):
        decode_block(bytes(1001), Limits(block_bytes=1000))


@pytest.mark.parametrize(
    "block",
    [
        replace(SEED, sequence_number=-1),
        replace(SEED, sequence_number=1 << 64),
        replace(SEED, system_time=Timestamp(2024, 0, 0, 0)),
        replace(SEED, system_time=Timestamp(2023, 366, 0, 0)),
        replace(SEED, event=SetInfo(description="\ud800")),
        replace(SEED, event=cast(Any, OffsetInterval(start=0, end=1))),
        replace(SEED, event=cast(Any, None)),
    ],
)
def test_what_the_form_cannot_hold_is_refused(block: MetadataBlock) -> None:
    with pytest.raises(ValueNotEncodable):
        encode_block(block)


def test_wrapper_of_another_layout_is_read() -> None:
    library = LibraryBuilder()
    content = library.byte_vector(encode_content(SEED, 3))
    library.start_table()
    library.scalar(1, struct.pack("<i", 3))
    library.offset(2, content)
    library.scalar(0, struct.pack("<q", 0x400000))
    data = library.finish(library.end_table())
    assert data != encode_block(SEED, 3)
    block = read_block(data)
    assert (block.version, block.block, block.data) == (3, SEED, data)


def test_trailing_bytes_belong_to_the_hash_and_do_not_disturb() -> None:
    block = read_block(SEED_BYTES + b"more")
    assert block.block == SEED
    assert block.hash == Multihash.sha3_256(SEED_BYTES + b"more") != make_block(SEED).hash
