"""Random values of the model, made from the same declarations as the codec."""

from typing import Any

from hypothesis import strategies as st

from odf_core.identity import ARROW0_SHA3_256, SHA3_256, DatasetAlias, DatasetId, Multihash
from odf_core.metadata import DatasetConfig, DatasetSnapshot, ExtraAttributes, MetadataBlock, Timestamp
from odf_core.metadata.shapes import (
    BoolShape,
    BytesShape,
    EnumShape,
    IdentityShape,
    IntShape,
    Shape,
    StringShape,
    TableShape,
    TextShape,
    TimestampShape,
    UnionShape,
    VectorShape,
    is_plain_object,
    shape_of,
    table_spec,
)
from odf_core.metadata.timestamp import is_leap

digests = st.binary(min_size=32, max_size=32)
multihashes = st.builds(Multihash, st.sampled_from([SHA3_256, ARROW0_SHA3_256]), digests)
dataset_ids = st.builds(DatasetId, digests)
aliases = st.sampled_from(["a", "com.example.data", "me/My-Data", "x/y.z"]).map(DatasetAlias.parse)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
finite_json = st.dictionaries(texts, json_values, max_size=3).filter(lambda value: "inf" not in repr(value))
extras = finite_json.map(ExtraAttributes.from_object)


@st.composite
def timestamps(draw: st.DrawFn, first_year: int = 0, last_year: int = 9999) -> Timestamp:
    year = draw(st.integers(first_year, last_year))
    seconds = draw(st.integers(0, 86_399))
    nanoseconds = draw(st.integers(0, 999_999_999) | st.sampled_from([0, 1_000_000, 120_000, 123_000_000]))
    return Timestamp(year, draw(st.integers(1, 365 + is_leap(year))), seconds, nanoseconds)


def values(shape: Shape, depth: int = 5) -> st.SearchStrategy[Any]:
    match shape:
        case IntShape(low=low, high=high):
            return st.sampled_from([0, 1, high, max(low, -1)]) | st.integers(low, high)
        case BoolShape():
            return st.booleans()
        case EnumShape(enum=enum):
            return st.sampled_from(enum)
        case TimestampShape():
            return timestamps()
        case StringShape():
            return texts
        case TextShape(form=form):
            known = {"DatasetRef": dataset_ids | aliases, "DatasetAlias": aliases}
            return known.get(form.name, st.just("https://example.com/data").map(form.parse))
        case BytesShape():
            return st.binary(max_size=9)
        case IdentityShape(type=kind):
            return dataset_ids if kind is DatasetId else multihashes
        case VectorShape(item=item):
            return st.lists(values(item, depth - 1), max_size=3 if depth > 0 else 0).map(tuple)
        case TableShape(table=table):
            return extras if is_plain_object(table) else tables(table, depth)
        case UnionShape(members=members):
            leaves = [each for each in members if depth > 0 or not _nests(each)]
            return st.sampled_from(leaves).flatmap(lambda member: tables(member, depth - 1))


def _nests(table: type) -> bool:
    return any(isinstance(field.shape, UnionShape | TableShape) for field in table_spec(table).fields)


def _later(shape: Shape, depth: int) -> st.SearchStrategy[Any]:
    """Types contain types: their strategies are made when they are drawn from."""
    return st.deferred(lambda: values(shape, depth))


def tables(table: type, depth: int = 5) -> st.SearchStrategy[Any]:
    parts: dict[str, st.SearchStrategy[Any]] = {}
    for field in table_spec(table).fields:
        part = _later(field.shape, depth - 1)
        if not field.required and field.default is None:
            optional = st.none() if depth <= 0 else st.none() | part
            parts[field.name] = optional
        else:
            parts[field.name] = part
    return st.fixed_dictionaries(parts).map(lambda given: table(**given))


blocks: st.SearchStrategy[MetadataBlock] = values(shape_of(MetadataBlock), depth=7)
snapshots: st.SearchStrategy[DatasetSnapshot] = values(shape_of(DatasetSnapshot), depth=7)
configs: st.SearchStrategy[DatasetConfig] = values(shape_of(DatasetConfig))
