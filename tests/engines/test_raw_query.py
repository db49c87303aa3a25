"""`engine.Engine` as deployed coordinators call it: gRPC, FlatBuffers, a stream with one last word."""

from collections.abc import Iterator

import grpc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.wrappers_pb2 import BytesValue

from odf_core.engines.handle import SparkEngine
from odf_core.engines.messages import (
    RawQueryRequest,
    RawQueryResponseInternalError,
    RawQueryResponseInvalidQuery,
    RawQueryResponseProgress,
    RawQueryResponseSuccess,
)
from odf_core.metadata.transforms import SqlQueryStep, TransformSql
from tests.engines.asking import ask_raw_query


@pytest.fixture
def channel(spark_engine: SparkEngine) -> Iterator[grpc.Channel]:
    spark_engine.start()
    with grpc.insecure_channel(f"unix:{spark_engine.folders.socket}") as channel:
        yield channel


def request_for(exchange, *queries: tuple[str | None, str], tables=None) -> RawQueryRequest:
    tables = tables or [pa.table({"id": [3, 1], "name": ["c", "a"]}), pa.table({"id": [2], "name": ["b"]})]
    files = []
    for number, table in enumerate(tables):
        path = exchange.inputs / f"in-{number}.parquet"
        pq.write_table(table, path)
        files.append(str(path))
    steps = tuple(SqlQueryStep(alias=alias, query=query) for alias, query in queries)
    return RawQueryRequest(
        input_data_paths=tuple(files),
        transform=TransformSql(engine="spark", queries=steps),
        output_data_path=str(exchange.folder / "out.parquet"),
    )


def test_a_query_of_several_steps_writes_one_file_in_the_order_of_the_source(spark_engine, channel) -> None:
    with spark_engine.exchange() as exchange:
        request = request_for(
            exchange,
            ("big", "select id * 10 as id, name from input where id < 3 or name = 'c'"),
            (None, "select id + 1 as id, upper(name) as name from big"),
        )
        *before, last = ask_raw_query(channel, request)
        assert last == RawQueryResponseSuccess(num_records=3)
        assert all(word == RawQueryResponseProgress() for word in before)
        written = pq.read_table(request.output_data_path)
        assert written.to_pylist() == [
            {"id": 31, "name": "C"},
            {"id": 11, "name": "A"},
            {"id": 21, "name": "B"},
        ]


def test_a_query_with_a_typo_is_invalid_and_the_place_is_told(spark_engine, channel) -> None:
    with spark_engine.exchange() as exchange:
        *_, last = ask_raw_query(channel, request_for(exchange, (None, "select id,\n  nme from input")))
        assert isinstance(last, RawQueryResponseInvalidQuery)
        assert "line 2, column 3" in last.message
        assert not list(exchange.folder.iterdir())


def test_bytes_that_are_no_message_are_refused(channel) -> None:
    method = channel.unary_stream("/engine.Engine/ExecuteRawQuery")
    with pytest.raises(grpc.RpcError) as caught:
        list(method(BytesValue(value=b"\x04\0\0\0nothing").SerializeToString(), timeout=60))
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_query_that_fails_while_it_runs_writes_nothing(spark_engine, channel) -> None:
    with spark_engine.exchange() as exchange:
        *_, last = ask_raw_query(
            channel, request_for(exchange, (None, "select cast(name as int) from input"))
        )
        assert isinstance(last, RawQueryResponseInternalError)
        assert "'c'" in last.message
        assert not list(exchange.folder.iterdir())


def test_a_query_that_is_not_allowed_runs_no_step(spark_engine, channel) -> None:
    with spark_engine.exchange() as exchange:
        request = request_for(exchange, ("a", "select * from input"), (None, "select id, uuid() from a"))
        *_, last = ask_raw_query(channel, request)
        assert isinstance(last, RawQueryResponseInvalidQuery)
        assert "line 1, column 12 (uuid())" in last.message


def test_no_records_are_an_empty_file(spark_engine, channel) -> None:
    with spark_engine.exchange() as exchange:
        request = request_for(exchange, (None, "select id from input where id > 100"))
        *_, last = ask_raw_query(channel, request)
        assert last == RawQueryResponseSuccess(num_records=0)
        assert pq.read_table(request.output_data_path).column_names == ["id"]
