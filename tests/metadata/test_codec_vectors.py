"""Every golden case: decode, canonical bytes, hash, JSON both ways, schema; and the layouts of slots.json."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from odf_core.metadata import (
    EVENT_TYPE,
    LegacyBlock,
    block_from_json,
    block_to_json,
    decode_block,
    encode_block,
    json_schema,
    make_block,
    read_block,
)
from tests.metadata.layouts import model_layout
from tests.vectors import require_vectors, vectors_dir


def _cases() -> list[Any]:
    folder = vectors_dir()
    if folder is None:
        return []
    cases: list[Any] = json.loads((folder / "metadata" / "cases.json").read_text())["cases"]
    return cases


CURRENT = [case for case in _cases() if "legacy" not in case["fbsSchema"]]
LEGACY = [case for case in _cases() if "legacy" in case["fbsSchema"]]
by_id = pytest.mark.parametrize("case", CURRENT, ids=lambda case: case["id"])


@by_id
def test_bytes_are_read_and_made_again_identically(case: Any) -> None:
    data = bytes.fromhex(case["bytesHex"])
    block = read_block(data)
    assert str(block.hash) == case["blockHash"]
    assert block.version == case["manifestVersion"]
    assert encode_block(block.block, block.version) == data
    assert require_vectors(f"metadata/{case['file']}").read_bytes() == data


@by_id
def test_manifest_is_that_of_the_case_and_gives_the_bytes(case: Any) -> None:
    data = bytes.fromhex(case["bytesHex"])
    manifest = block_to_json(decode_block(data))
    assert manifest == {
        "kind": "MetadataBlock",
        "version": case["manifestVersion"],
        "content": case["block"],
    }
    decoded = block_from_json(manifest)
    assert make_block(decoded.block, decoded.version).data == data


@by_id
def test_canonical_form_satisfies_the_json_schema(case: Any) -> None:
    Draft202012Validator(json_schema("MetadataBlock")).validate(case["block"])


@pytest.mark.parametrize("case", LEGACY, ids=lambda case: case["id"])
def test_blocks_of_the_older_layout_are_refused_as_such(case: Any) -> None:
    with pytest.raises(LegacyBlock):
        read_block(bytes.fromhex(case["bytesHex"]))


@pytest.mark.parametrize("version", ["v0.36.0", "HEAD(0ed3347)"])
def test_declared_tables_are_those_of_the_schema(version: str) -> None:
    slots = json.loads(require_vectors("metadata/slots.json").read_text())[version]
    ours = model_layout()
    head = version != "v0.36.0"
    for name, fields in slots["tables"].items():
        if name == "Manifest":
            continue
        declared = ours["tables"].pop(name)
        if head:
            assert declared == fields, name
        else:
            # Later versions renamed fields and appended slots; what a slot holds never changed.
            assert [_without_name(field) for field in declared[: len(fields)]] == [
                _without_name(field) for field in fields
            ], name
    for name, members in slots["unions"].items():
        declared_members = ours["unions"].pop(name)
        assert members.items() <= declared_members.items()
        assert not head or members == declared_members
    for name, enum in slots["enums"].items():
        assert ours["enums"].pop(name) == enum
    assert not head or not (ours["tables"] or ours["unions"] or ours["enums"])


def _without_name(field: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in field.items() if key != "field"}


def test_event_numbers_are_those_of_the_schema() -> None:
    slots = json.loads(require_vectors("metadata/slots.json").read_text())
    assert slots["HEAD(0ed3347)"]["unions"]["MetadataEvent"] == EVENT_TYPE
