"""The engine in the foreground, as deployed coordinators start it: an address, a folder, variables."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.messages import (
    RawQueryRequest,
    RawQueryResponseInvalidQuery,
    RawQueryResponseSuccess,
    TransformResponseInvalidQuery,
    TransformResponseRoot,
    decode_message,
    encode_message,
)
from odf_core.identity import DatasetId
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.transforms import SqlQueryStep, TransformSql
from odf_core.transform.request import DatasetVocabulary, TransformRequest
from tests.engines.asking import answers, ask_raw_query

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def channel(folder: Path) -> Iterator[grpc.Channel]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "files").mkdir()
    arguments = ["--listen", address, "--folder", str(folder / "files")]
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "odf_core.engines.spark", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "ODF_SPARK__RUNTIME_DIR": str(folder / "r"),
            "ODF_SPARK__WORK_DIR": str(folder / "w"),
            "ODF_SPARK__MEMORY": "1g",
        },
        stderr=log,
    )
    log.close()
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=60)
        yield channel
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_a_raw_query_over_tcp(channel: grpc.Channel, folder: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2, 3]}), folder / "files" / "in.parquet")
    request = RawQueryRequest(
        input_data_paths=(str(folder / "files" / "in.parquet"),),
        transform=TransformSql(
            engine="spark", queries=(SqlQueryStep(query="select a * 2 as a from input where a > 1"),)
        ),
        output_data_path=str(folder / "files" / "out.parquet"),
    )
    *_, last = ask_raw_query(channel, request)
    assert last == RawQueryResponseSuccess(num_records=2)
    assert pq.read_table(folder / "files" / "out.parquet").to_pylist() == [{"a": 4}, {"a": 6}]


def test_a_query_for_another_engine_is_refused(channel: grpc.Channel) -> None:
    request = RawQueryRequest(
        input_data_paths=("x",),
        transform=TransformSql(engine="flink", query="select 1"),
        output_data_path="y",
    )
    *_, last = ask_raw_query(channel, request)
    assert isinstance(last, RawQueryResponseInvalidQuery)
    assert "'flink'" in last.message


def test_a_transformation_is_refused_in_the_words_of_the_contract(channel: grpc.Channel) -> None:
    vocab = DatasetVocabulary(
        offset_column="offset",
        operation_type_column="op",
        system_time_column="system_time",
        event_time_column="event_time",
    )
    request = TransformRequest(
        dataset_id=DatasetId.parse("did:odf:fed01" + "0" * 64),
        dataset_alias="d",
        system_time=Timestamp.parse("2026-01-01T00:00:00Z"),
        vocab=vocab,
        transform=TransformSql(engine="spark", query="select 1"),
        query_inputs=(),
        next_offset=0,
        new_checkpoint_path="c",
        new_data_path="d",
    )
    *_, content = answers(channel, "ExecuteTransform", encode_message(request))
    answer = decode_message(TransformResponseRoot, content).value
    assert isinstance(answer, TransformResponseInvalidQuery)
    assert "reads none of its inputs" in answer.message
