"""Columns of links to objects: counted, or refused where they lead nowhere."""

from pathlib import Path
from typing import Any

import pytest

from odf_core.identity import Multihash
from odf_core.ingest.links import (
    LinkColumnUnsupported,
    LinkDangling,
    LinkMalformed,
    link_columns,
    with_attributes,
)
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeInt64,
    DataTypeList,
    DataTypeOption,
    DataTypeString,
    DataTypeStruct,
    ExtraAttributes,
    MergeStrategyAppend,
    ReadStepNdJson,
)
from tests.ingest_spark.making import Maker

LINK = {"opendatafabric.org/type": {"kind": "ObjectLink", "linkType": {"kind": "Multihash"}}}
TEXT = DataTypeOption(inner=DataTypeString())


def field(name: str, kind: Any = TEXT, **extra: Any) -> DataField:
    return DataField(name=name, type=kind, extra=ExtraAttributes.from_object(extra) if extra else None)


SCHEMA = DataSchema(
    fields=(
        field("name"),
        field("photo", **LINK, **{"arrow.apache.org/bufferEncoding": {"kind": "View"}}),
        field("plan", **LINK),
    )
)


def put(maker: Maker, content: bytes) -> str:
    """An object among the dataset's data."""
    name = Multihash.sha3_256(content)
    path = maker.dataset.path / "data" / str(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return str(name)


def test_links_are_counted_with_the_sizes_of_their_objects(maker: Maker) -> None:
    maker.with_push(ReadStepNdJson(schema=SCHEMA), MergeStrategyAppend())
    one, two = put(maker, b"one"), put(maker, b"two and more")
    lines = [f'{{"name":"a","photo":"{one}","plan":"{two}"}}', f'{{"name":"b","photo":"{one}"}}', "{}"]
    maker.push("\n".join(lines))
    event = maker.last()
    assert event.extra is not None
    naive = {"numObjectsNaive": 3, "sizeNaive": 3 + 3 + 12}
    assert event.extra.to_object() == {"opendatafabric.org/linkedObjects": naive}
    schema = maker.history().schema
    assert schema is not None
    assert link_columns(schema) == ("photo", "plan")
    told = {item.name: item.extra.to_object() for item in schema.fields if item.extra is not None}
    assert told == {"photo": LINK, "plan": LINK}

    head, files = maker.dataset.head, sorted(maker.dataset.path.rglob("*"))
    gone = Multihash.sha3_256(b"gone")
    with pytest.raises(LinkDangling, match=f"{gone} in column 'plan' of the record with offset 3 names"):
        maker.push(f'{{"plan":"{gone}"}}')
    with pytest.raises(LinkMalformed, match="'photo' of the record with offset 3 is not the hash"):
        maker.push('{"photo":"../../etc/passwd"}')
    assert (maker.dataset.head, sorted(maker.dataset.path.rglob("*"))) == (head, files)
    assert not any((Path(maker.workspace.root) / "work").iterdir())

    maker.push('{"name":"without links"}')
    extra = maker.last().extra
    assert extra is not None
    assert extra.to_object()["opendatafabric.org/linkedObjects"] == {"numObjectsNaive": 0, "sizeNaive": 0}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (field("n", DataTypeInt64(), **LINK), "is no text"),
        (field("n", DataTypeList(item_type=TEXT), **LINK), "is no text"),
        (field("n", DataTypeStruct(fields=(field("m", **LINK),))), "'n.m' .* lies inside another column"),
        (field("n", DataTypeList(item_type=DataTypeStruct(fields=(field("m", **LINK),)))), "inside another"),
        (
            field("n", **{"opendatafabric.org/type": {"kind": "ObjectLink"}}),
            "something else than a Multihash",
        ),
    ],
)
def test_fields_that_cannot_be_links(wrong: DataField, words: str) -> None:
    with pytest.raises(LinkColumnUnsupported, match=words):
        link_columns(DataSchema(fields=(wrong,)))


def test_other_types_of_the_specification_are_left_alone() -> None:
    assert (
        link_columns(DataSchema(fields=(field("n", **{"opendatafabric.org/type": {"kind": "Did"}}),))) == ()
    )
    other = DataSchema(fields=(field("photo", DataTypeInt64()), field("plan", DataTypeString())))
    told = with_attributes(other, SCHEMA).fields
    assert [item.extra is None for item in told] == [True, False]
