"""Manifests in JSON form: what is read, in which spellings, and what is refused with the place named."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from odf_core.errors import OdfError
from odf_core.limits import Limits
from odf_core.metadata import (
    DatasetConfig,
    DatasetSnapshot,
    DataTypeTimestamp,
    EventTimeSourceFromMetadata,
    InvalidManifest,
    MetadataBlock,
    NestingTooDeep,
    ObsoleteManifestVersion,
    ReadStepNdJson,
    SetDataSchema,
    SourceCachingForever,
    UnsupportedManifestVersion,
    block_from_json,
    block_to_json,
    config_from_json,
    config_to_json,
    dump_yaml,
    event_from_json,
    event_to_json,
    json_schema,
    load_manifest,
    make_block,
    snapshot_from_json,
    snapshot_to_json,
)
from odf_core.metadata.block import DecodedBlock
from odf_core.metadata.schema_documents import manifest_json_schema
from tests.metadata.model_strategies import blocks, configs, snapshots
from tests.metadata.sample_blocks import BLOCKS

VALIDATORS = {
    kind: Draft202012Validator(json_schema(kind))
    for kind in ("MetadataBlock", "MetadataEvent", "DatasetSnapshot", "DatasetConfig")
}
WHOLE_BLOCK = Draft202012Validator(manifest_json_schema("MetadataBlock"))


def event(**content: Any) -> Any:
    return event_from_json({"kind": "MetadataEvent", "version": 1, "content": content})


def polling(**changed: Any) -> dict[str, Any]:
    source = {
        "kind": "SetPollingSource",
        "fetch": {"kind": "Url", "url": "https://example.com"},
        "read": {"kind": "NdJson"},
        "merge": {"kind": "Append"},
    }
    return source | changed


@settings(max_examples=120)
@given(blocks)
def test_random_blocks_survive_json_and_yaml(block: MetadataBlock) -> None:
    manifest = block_to_json(make_block(block, 3))
    assert block_from_json(manifest) == DecodedBlock(3, block)
    assert block_to_json(block_from_json(manifest)) == manifest
    assert load_manifest(dump_yaml(manifest)) == manifest
    VALIDATORS["MetadataBlock"].validate(manifest["content"])


@settings(max_examples=30)
@given(snapshots, configs)
def test_random_snapshots_and_configurations_survive(
    snapshot: DatasetSnapshot, config: DatasetConfig
) -> None:
    manifest = snapshot_to_json(snapshot)
    assert snapshot_from_json(manifest) == snapshot
    VALIDATORS["DatasetSnapshot"].validate(manifest["content"])
    manifest = config_to_json(config)
    assert config_from_json(manifest) == config
    VALIDATORS["DatasetConfig"].validate(manifest["content"])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block.event).__name__)
def test_every_event_has_a_manifest(block: MetadataBlock) -> None:
    manifest = event_to_json(block.event)
    assert manifest["content"]["kind"] == type(block.event).__name__
    assert event_from_json(manifest) == block.event
    VALIDATORS["MetadataEvent"].validate(manifest["content"])
    Draft202012Validator(manifest_json_schema("MetadataEvent")).validate(manifest)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block.event).__name__)
def test_every_unknown_or_missing_property_is_refused(block: MetadataBlock) -> None:
    """One property more, or one required property less, anywhere in the manifest."""
    manifest = block_to_json(make_block(block))
    for path, parent in list(objects_of(manifest)):
        changed = copy.deepcopy(manifest)
        target = at(changed, path)
        target["surplus"] = 1
        with pytest.raises(InvalidManifest, match="surplus"):
            block_from_json(changed)
        for key in parent:
            changed = copy.deepcopy(manifest)
            del at(changed, path)[key]
            if WHOLE_BLOCK.is_valid(changed):
                block_from_json(changed)
            else:
                with pytest.raises(InvalidManifest):
                    block_from_json(changed)


def objects_of(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    if isinstance(value, dict):
        yield path, value
        for key, part in value.items():
            # Extra attributes may hold anything; schemas within a read step are those of SetDataSchema.
            if key != "extra" and (key, "read") != ("schema", *path[-1:]):
                yield from objects_of(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from objects_of(part, (*path, index))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("spelling", ["NdJson", "ndJson", "ndjson"])
def test_variants_have_three_spellings(spelling: str) -> None:
    assert event(**polling(read={"kind": spelling})).read == ReadStepNdJson()


@pytest.mark.parametrize("spelling", ["nDjson", "NDJSON", "Ndjson", "nd_json", "ReadStepNdJson", "", None, 1])
def test_variants_have_no_other_spelling(spelling: Any) -> None:
    with pytest.raises(InvalidManifest, match=r"content\.read\.kind has to be one of Csv, "):
        event(**polling(read={"kind": spelling}))


@pytest.mark.parametrize("spelling", ["uInt8", "uint8", "UInt8"])
def test_short_form_of_types(spelling: str) -> None:
    written = event_to_json(event(kind="SetDataSchema", schema={"fields": [{"name": "x", "type": spelling}]}))
    assert written["content"]["schema"]["fields"] == [{"name": "x", "type": {"kind": "UInt8"}}]


def test_short_form_where_it_is_allowed_and_nowhere_else() -> None:
    fetch = {"kind": "url", "url": "u", "eventTime": "fromMetadata", "cache": "forever"}
    made = event(**polling(fetch=fetch)).fetch
    assert (made.event_time, made.cache) == (EventTimeSourceFromMetadata(), SourceCachingForever())
    field = {"name": "t", "type": "Timestamp"}
    assert (
        event(kind="setdataschema", schema={"fields": [field]}).schema.fields[0].type == DataTypeTimestamp()
    )
    for wrong in (polling(merge="Append"), polling(read="Csv"), polling(prepare=["Pipe"])):
        with pytest.raises(InvalidManifest, match="has to be an object"):
            event(**wrong)
    with pytest.raises(InvalidManifest, match="lacks the property 'itemType'"):
        event(kind="SetDataSchema", schema={"fields": [{"name": "t", "type": "List"}]})


def test_enumerations_have_three_spellings() -> None:
    for spelling in ("ByEventTime", "byEventTime", "byeventtime"):
        fetch = {"kind": "FilesGlob", "path": "*", "order": spelling}
        assert event(**polling(fetch=fetch)).fetch.order.text == "ByEventTime"
    with pytest.raises(InvalidManifest, match=r"content\.fetch\.order has to be one of ByEventTime, ByName"):
        event(**polling(fetch={"kind": "FilesGlob", "path": "*", "order": "BYNAME"}))


def test_names_of_earlier_versions_are_read_and_never_written() -> None:
    csv = event(**polling(read={"kind": "Csv", "schema": ["id INT", "x STRING"]}))
    assert csv.read.ddl_schema == ("id INT", "x STRING")
    assert event_to_json(csv)["content"]["read"] == {"kind": "Csv", "ddlSchema": ["id INT", "x STRING"]}
    both = {"kind": "Csv", "schema": {"fields": []}, "ddlSchema": []}
    assert event_to_json(event(**polling(read=both)))["content"]["read"] == both
    raw = event(kind="SetDataSchema", schema="AAEC")
    assert raw == SetDataSchema(raw_arrow_schema=b"\0\1\2")
    assert event_to_json(raw)["content"] == {"kind": "SetDataSchema", "rawArrowSchema": "AAEC"}
    with pytest.raises(InvalidManifest, match="twice"):
        event(**polling(read={"kind": "Csv", "schema": [], "ddlSchema": []}))


def test_null_stands_for_absence_but_not_of_moments_and_bytes() -> None:
    made = event(kind="AddData", prevOffset=None, newData=None, prevCheckpoint=None, extra=None)
    assert event_to_json(made)["content"] == {"kind": "AddData"}
    for key, content in [
        ("newWatermark", {"kind": "AddData", "newWatermark": None}),
        ("rawArrowSchema", {"kind": "SetDataSchema", "rawArrowSchema": None}),
        ("sourceName", {"kind": "DisablePushSource", "sourceName": None}),
        ("read", polling(read=None)),
    ]:
        with pytest.raises(InvalidManifest, match=rf"content\.{key} has to be"):
            event(**content)


def test_moments_are_converted_to_utc() -> None:
    made = event(kind="AddData", newWatermark="2020-01-01T02:00:00.5+02:00")
    assert event_to_json(made)["content"]["newWatermark"] == "2020-01-01T00:00:00.500Z"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"kind": "AddData", "prevOffset": -1}, "content.prevOffset"),
        ({"kind": "AddData", "prevOffset": 1 << 64}, "content.prevOffset"),
        ({"kind": "AddData", "prevOffset": 1.0}, "content.prevOffset"),
        ({"kind": "AddData", "prevOffset": True}, "content.prevOffset"),
        ({"kind": "AddData", "prevOffset": "1"}, "content.prevOffset"),
        ({"kind": "AddData", "prevCheckpoint": "f16"}, "content.prevCheckpoint"),
        ({"kind": "AddData", "newWatermark": "yesterday"}, "content.newWatermark"),
        ({"kind": "AddData", "newWatermark": 5}, "content.newWatermark"),
        ({"kind": "AddData", "extra": []}, "content.extra"),
        ({"kind": "AddData", "extra": {"a": float("inf")}}, "content.extra"),
        ({"kind": "SetInfo", "keywords": "a"}, "content.keywords"),
        ({"kind": "SetInfo", "keywords": [1]}, "content.keywords[0]"),
        ({"kind": "SetInfo", "description": 1}, "content.description"),
        ({"kind": "SetInfo", "description": "\ud800"}, "content.description"),
        ({"kind": "Seed", "datasetId": "did:odf:x", "datasetKind": "Root"}, "content.datasetId"),
        ({"kind": "SetDataSchema", "rawArrowSchema": "AAE"}, "content.rawArrowSchema"),
        ({"kind": "SetDataSchema", "rawArrowSchema": "AAF="}, "content.rawArrowSchema"),
        ({"kind": "SetDataSchema", "rawArrowSchema": "A AEC"}, "content.rawArrowSchema"),
        ({"kind": "SetDataSchema", "rawArrowSchema": "-_-_"}, "content.rawArrowSchema"),
        (polling(prepare=[{"kind": "Decompress", "format": "rar"}]), "content.prepare[0].format"),
        (polling(read={"kind": "Csv", "header": "true"}), "content.read.header"),
        (
            {"kind": "SetTransform", "inputs": [{"datasetRef": "a/b/c"}], "transform": {}},
            "content.inputs[0].datasetRef",
        ),
    ],
)
def test_wrong_values_are_refused_with_their_place(content: dict[str, Any], place: str) -> None:
    with pytest.raises(InvalidManifest) as caught:
        event(**content)
    assert caught.value.objects == (place,)
    assert place in caught.value.message


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (None, InvalidManifest),
        ([], InvalidManifest),
        ({}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": 2}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": 2, "content": {}}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": 2, "content": {}, "more": 1}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": "2", "content": {}}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": True, "content": {}}, InvalidManifest),
        ({"kind": 4194304, "version": 2, "content": {}}, InvalidManifest),
        ({"kind": "metadataBlock", "version": 2, "content": {}}, InvalidManifest),
        ({"kind": "DatasetSnapshot", "version": 1, "content": {}}, InvalidManifest),
        ({"kind": "MetadataBlock", "version": 1, "content": {}}, ObsoleteManifestVersion),
        ({"kind": "MetadataBlock", "version": 4, "content": {}}, UnsupportedManifestVersion),
    ],
)
def test_wrong_wrappers_are_refused(manifest: Any, error: type[OdfError]) -> None:
    with pytest.raises(error):
        block_from_json(manifest)


@pytest.mark.parametrize("version", [0, 2])
def test_snapshots_have_one_version(version: int) -> None:
    with pytest.raises(UnsupportedManifestVersion):
        snapshot_from_json({"kind": "DatasetSnapshot", "version": version, "content": {}})


def test_configuration_may_leave_everything_out() -> None:
    empty = {"kind": "DatasetConfig", "version": 1, "content": {}}
    assert config_from_json(empty) == DatasetConfig()
    assert config_to_json(DatasetConfig()) == empty
    full = {"pullAliases": ["kamu/me/data"], "pushAliases": ["https://example.com/me/data"]}
    assert config_to_json(config_from_json(empty | {"content": full}))["content"] == full


def test_nesting_is_bounded() -> None:
    kind: Any = "Null"
    for _ in range(70):
        kind = {"kind": "Option", "inner": kind}
    with pytest.raises(NestingTooDeep):
        event(kind="SetDataSchema", schema={"fields": [{"name": "x", "type": kind}]})
    kind = "Null"
    for _ in range(10):
        kind = {"kind": "Option", "inner": kind}
    manifest = {
        "kind": "MetadataEvent",
        "version": 1,
        "content": {"kind": "SetDataSchema", "schema": {"fields": [{"name": "x", "type": kind}]}},
    }
    assert event_from_json(manifest)
    with pytest.raises(NestingTooDeep):
        event_from_json(manifest, Limits(nesting_depth=8))


@pytest.mark.parametrize("kind", sorted(VALIDATORS))
def test_schemas_are_schemas(kind: str) -> None:
    Draft202012Validator.check_schema(json_schema(kind))
    Draft202012Validator.check_schema(manifest_json_schema(kind))
    assert json_schema(kind)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_there_is_no_schema_of_other_kinds() -> None:
    with pytest.raises(InvalidManifest):
        json_schema("Nothing")
