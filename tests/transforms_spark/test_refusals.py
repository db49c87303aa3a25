"""What is not evaluated, and the sentence that says why; nothing is left then."""

import pyarrow as pa
import pytest

from odf_core.engines.errors import QueryInvalid, QueryRefused
from odf_core.errors import OdfError
from odf_core.metadata import TransformSql
from odf_core.transform.errors import CheckpointUnreadable, InvalidQueryResult
from odf_core.transform.port import TableSchema
from tests.transforms_spark.stepping import VOCAB, Derived, Input, slice_schema

COLUMNS = pa.schema(
    [pa.field("k", pa.string()), pa.field("n", pa.int64()), pa.field("tags", pa.list_(pa.string()))]
)


@pytest.fixture
def source(tmp_path):
    return Input("a", COLUMNS, tmp_path)


@pytest.mark.parametrize(
    ("query", "error", "says"),
    [
        ("select event_time, city from a", QueryInvalid, "city"),
        ("select event_time, n from b", QueryRefused, "b is not a table"),
        ("select event_time, rand() as r from a", QueryRefused, "rand"),
        ("select current_timestamp() as event_time from a", QueryRefused, "current_timestamp"),
        (
            "select event_time, java_method('java.lang.System', 'getenv') as e from a",
            QueryRefused,
            "java_method",
        ),
        ("select event_time, n from parquet.`/tmp`", QueryRefused, "not a table"),
        ("select k, n from a", InvalidQueryResult, "no column event_time"),
        ("select k as event_time, n from a", InvalidQueryResult, "timestamp or a date"),
        ("select event_time, offset from a", InvalidQueryResult, "offset"),
        ("select event_time, system_time from a", InvalidQueryResult, "system_time"),
        ("select event_time, n as op from a", InvalidQueryResult, "computes op"),
        ("select event_time, n, n from a", InvalidQueryResult, "two columns named n"),
        (
            "select max(event_time) as event_time, count(*) as c from a group by offset",
            InvalidQueryResult,
            "not known",
        ),
        ("select distinct event_time, tags from a", QueryRefused, "lists or maps"),
        ("select event_time, n, (select max(n) from a) as m from a", QueryRefused, "join"),
        (
            "select max(event_time) as event_time, k, count(distinct n) as c, first(n) f from a group by k",
            QueryRefused,
            "DISTINCT",
        ),
        (
            "select event_time, 1 as n from values (timestamp'2024-01-01') as t(event_time)",
            QueryRefused,
            "none of its",
        ),
        ("delete from a", QueryRefused, ""),
        ("selec event_time from a", QueryInvalid, ""),
    ],
)
def test_queries(transforms, source, tmp_path, query, error, says):
    derived = Derived(transforms, [source], query, tmp_path)
    with pytest.raises(error) as refused:
        derived.step([source.slice([(0, 1, "x", 1, None)])], [1])
    assert says.lower() in refused.value.message.lower()
    assert derived.checkpoint is None
    table = TableSchema("a", slice_schema(COLUMNS), VOCAB)
    with pytest.raises(error):
        transforms.validate(derived.transform, [table], VOCAB)


@pytest.mark.parametrize(
    ("query", "stateful", "remark"),
    [
        ("select event_time, k from a where n > 1", False, None),
        ("select max(event_time) as event_time, k from a group by k", True, "nothing ever leaves"),
        ("select max(event_time) as event_time, count(*) as c from a", True, "whole result"),
        (
            "select window.start as event_time, count(*) as c "
            "from (select window(event_time, '1 hour') as window from a) group by window",
            True,
            None,
        ),
    ],
)
def test_what_is_valid_is_told(transforms, query, stateful, remark):
    table = TableSchema("a", slice_schema(COLUMNS), VOCAB)
    valid = transforms.validate(TransformSql(engine="spark", query=query), [table], VOCAB)
    assert valid.is_stateful is stateful
    assert valid.columns.names[0] == "event_time"
    assert valid.transform.version == transforms.version()
    assert (remark is None and valid.remarks == ()) or remark in valid.remarks[0]


def test_altered_and_foreign_checkpoints(transforms, source, tmp_path):
    query = "select max(event_time) as event_time, k, count(*) as c from a group by k"
    derived = Derived(transforms, [source], query, tmp_path)
    derived.step([source.slice([(0, 1, "x", 1, None)])], [1])
    good = derived.checkpoint
    newer = good.read_bytes().replace(b'"format":1', b'"format":2')
    for content in (b"", b"not a tar", good.read_bytes()[:700], newer):
        altered = tmp_path / "altered"
        altered.write_bytes(content)
        derived.checkpoint = altered
        with pytest.raises(CheckpointUnreadable):
            derived.step([source.slice([(0, 2, "x", 1, None)])], [2])
    other = Derived(transforms, [source], query.replace("as c", "as d"), tmp_path, checkpoint=good)
    with pytest.raises(CheckpointUnreadable, match="another query"):
        other.step([None], [3])


def test_a_row_without_event_time(transforms, source, tmp_path):
    query = "select nullif(event_time, timestamp'2024-01-01T00:01:00Z') as event_time, n from a"
    derived = Derived(transforms, [source], query, tmp_path)
    with pytest.raises(OdfError, match="event_time is null"):
        derived.step([source.slice([(0, 1, "x", 1, None)])], [1])
