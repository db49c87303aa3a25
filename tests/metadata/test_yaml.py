"""YAML text: golden bytes, what plain scalars mean, and what is refused."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.limits import Limits
from odf_core.metadata import (
    InvalidManifest,
    ManifestTooLarge,
    NestingTooDeep,
    block_from_json,
    block_to_json,
    dump_yaml,
    load_manifest,
    load_manifests,
    make_block,
    snapshot_from_json,
    snapshot_to_json,
)
from odf_core.metadata.manifest.yaml_text import plain_scalar
from tests.metadata.model_strategies import texts
from tests.metadata.sample_blocks import BLOCKS
from tests.vectors import vectors_dir


def _golden() -> list[Any]:
    folder = vectors_dir()
    return json.loads((folder / "metadata" / "yaml.json").read_text())["cases"] if folder else []


@pytest.mark.parametrize("case", _golden(), ids=lambda case: case["json"]["content"].get("name", "block"))
def test_golden_manifests_to_the_byte(case: Any) -> None:
    loaded = load_manifest(case["yaml"])
    assert loaded == case["json"]
    if loaded["kind"] == "DatasetSnapshot":
        written = snapshot_to_json(snapshot_from_json(loaded))
    else:
        decoded = block_from_json(loaded)
        written = block_to_json(decoded)
        for version in (2, 3):
            assert str(make_block(decoded.block, version).hash) == case[f"blockHashV{version}"]
    assert dump_yaml(written) == case["yaml"]


def test_layout_of_own_blocks() -> None:
    block = next(block for block in BLOCKS if type(block.event).__name__ == "SetInfo")
    assert dump_yaml(block_to_json(make_block(block))) == (
        "kind: MetadataBlock\n"
        "version: 2\n"
        "content:\n"
        "  systemTime: 2026-11-21T10:20:30.123456789Z\n"
        f"  prevBlockHash: {block.prev_block_hash}\n"
        f"  sequenceNumber: {block.sequence_number}\n"
        "  event:\n"
        "    kind: SetInfo\n"
        "    description: |\n"
        "      A dataset\n"
        "      of two lines\n"
        "    keywords: []\n"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("TRUE", True),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("12", 12),
        ("+12", 12),
        ("-12", -12),
        ("0x1F", 31),
        ("-0x1f", -31),
        ("0o17", 15),
        ("0b101", 5),
        ("017", "017"),
        ("-00", "-00"),
        ("0", 0),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".", "."),
        ("e3", "e3"),
        ("0x", "0x"),
        ("0xg", "0xg"),
        (".inf", math.inf),
        ("inf", "inf"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("=", "="),
        ("<<", "<<"),
        ("١٢", "١٢"),
    ],
)
def test_plain_scalars(text: str, value: Any) -> None:
    assert plain_scalar(text) == value
    assert type(plain_scalar(text)) is type(value)


@given(
    texts
    | st.sampled_from(
        ["", "null", "1", "1.5", "true", "- a", "a: b", "#", "a #", " a", "a ", "\n", "a\n\n", "\t"]
    )
)
def test_text_of_any_kind_survives(text: str) -> None:
    value = {"a": [text, {"b": text}]}
    assert load_manifest(dump_yaml(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(1 << 63), (1 << 64) - 1))
def test_numbers_survive(number: float) -> None:
    read = load_manifest(dump_yaml({"n": number}))["n"]
    assert read == number
    assert type(read) is type(number)


def test_several_documents() -> None:
    assert load_manifests("a: 1\n---\nb: [2, '3']\n---\n") == [{"a": 1}, {"b": [2, "3"]}, None]
    assert load_manifests('{"a": 1}') == [{"a": 1}]
    assert load_manifests("{a: 1, b: {}}") == [{"a": 1, "b": {}}]
    assert load_manifest("\ufeff{a: 1}".encode()) == {"a": 1}
    for text in ("", "# nothing", "a: 1\n---\nb: 2"):
        with pytest.raises(InvalidManifest, match="has to hold one manifest"):
            load_manifest(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &x 1\nb: *x", "an anchor"),
        ("a: *x", "an alias|undefined alias"),
        ("a: !!str 1", "a tag"),
        ("a: !mine 1", "a tag"),
        ("! a: 1", "a tag"),
        ("a: 1\na: 2", "twice"),
        ("{a: 1, 'a': 2}", "twice"),
        ('{"a": 1, "a": 2}', "twice"),
        ("1: a", "not text"),
        ("? [a]\n: b", "not text"),
        ("? {a: b}\n: b", "not text"),
        ("true: a", "not text"),
        ("a: [1", "not YAML"),
        ("a: b: c", "not YAML"),
        ("a:\n\t- b", "not YAML"),
        ("\x00", "not YAML"),
        ("%TAG ! tag:x,2000:\n--- !a b", "a tag"),
        ('{"a": NaN}', "not a number|NaN"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("a: \ud800", "YAML"),
    ],
)
def test_what_is_no_json_compatible_yaml_is_refused(text: str | bytes, why: str) -> None:
    with pytest.raises(Exception, match=why) as caught:
        load_manifest(text)
    assert caught.value.__class__.__module__.startswith("odf_core.")


def test_sizes_and_depths_are_bounded() -> None:
    with pytest.raises(ManifestTooLarge):
        load_manifest("a: " + "x" * 1000, Limits(manifest_bytes=1000))
    with pytest.raises(ManifestTooLarge):
        load_manifest("a: " + "ü" * 500, Limits(manifest_bytes=1000))
    for text in ("[" * 100_000, "- " * 20_000, '{"a":' * 100_000, '{"a":' * 500 + "1" + "}" * 500):
        with pytest.raises((NestingTooDeep, InvalidManifest)):
            load_manifest(text)
    with pytest.raises(NestingTooDeep):
        load_manifest('{"a":' * 30 + "1" + "}" * 30, Limits(nesting_depth=5))
    with pytest.raises(NestingTooDeep):
        load_manifest("[" * 300 + "]" * 300)
