"""The caller's side: one engine for all, typed errors, deadlines, deaths, leftovers of the killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.errors import (
    EngineDied,
    EngineFailed,
    EngineMessageTooLarge,
    EngineStartFailed,
    EngineTimeout,
    InvalidEngineRequest,
    JavaNotFound,
)
from odf_core.engines.handle import SparkEngine
from odf_core.errors import Conflict
from tests.spark_fixture import shared_engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def fragile() -> Iterator[SparkEngine]:
    """An engine of its own, which tests may break."""
    options = replace(
        shared_engine().options, handler_modules=("tests.engines.engine_handlers",), memory="1g"
    )
    engine = SparkEngine(options)
    yield engine
    engine.stop()


def sleep(engine: SparkEngine, seconds: float = 0.0, **more) -> int:
    """The engine's process id, after a while."""
    return engine.run("sleep", {"seconds": seconds}, **{"deadline": 120, **more})["pid"]


def state_of(engine: SparkEngine) -> dict:
    return json.loads(engine.folders.state.read_text())


def test_importing_the_handle_imports_no_engine() -> None:
    program = "import odf_core.engines.handle, sys; print('pyspark' in sys.modules, 'pyarrow' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert told.stdout.split() == ["False", "False"]


def test_a_second_call_reaches_the_same_warm_process_and_progress_is_told(fragile: SparkEngine) -> None:
    told: list[str] = []
    first = sleep(fragile, progress=told.append)
    assert told[0] == "starting Spark"
    assert told[-1] == "sleeping"
    began = time.monotonic()
    assert sleep(SparkEngine(fragile.options)) == first
    assert time.monotonic() - began < 5
    assert fragile.info is not None
    assert fragile.info["pid"] == first
    assert set(fragile.info["fence"]) == {"network", "files"}
    assert os.stat(fragile.folders.runtime).st_mode & 0o777 == 0o700
    assert os.stat(fragile.folders.work).st_mode & 0o777 == 0o700


def test_errors_come_back_as_what_they_were(fragile: SparkEngine) -> None:
    with pytest.raises(Conflict) as caught:
        fragile.run("fail", {"how": "typed"}, deadline=60)
    assert type(caught.value) is Conflict
    assert caught.value.diagnostics() == {
        "family": "conflict",
        "code": "conflict",
        "message": "Somebody was here before.",
        "objects": ["a"],
        "extras": {"by": "b"},
    }
    with pytest.raises(EngineFailed, match="nothing goes into nothing"):
        fragile.run("fail", {"how": "python"}, deadline=60)
    with pytest.raises(EngineFailed, match=r"[Dd]ivision by zero") as spark:
        fragile.run("fail", {"how": "spark"}, deadline=60)
    assert spark.value.extras["condition"] == "DIVIDE_BY_ZERO"


def test_requests_that_make_no_sense_are_refused(fragile: SparkEngine) -> None:
    with pytest.raises(InvalidEngineRequest, match=r"no calls of kind 'nonsense', only .*sleep"):
        fragile.run("nonsense", {}, deadline=60)
    small = SparkEngine(replace(fragile.options, message_bytes=1000))
    with pytest.raises(EngineMessageTooLarge):
        small.run("sleep", {"seconds": 0, "text": "x" * 1000}, deadline=60)
    assert not small.running()


def test_the_engine_is_fenced_off(fragile: SparkEngine, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as server, fragile.exchange() as exchange:
        given = exchange.put(secret)
        seen = fragile.run(
            "look_around",
            {
                "files": [str(secret), "/etc/shadow", str(Path.home()), str(given)],
                "folders": [str(tmp_path), str(exchange.inputs), str(exchange.folder)],
                "address": server.getsockname(),
            },
            deadline=60,
        )
        assert os.path.samefile(given, secret)
    log = fragile.folders.log.read_text()
    if "files='landlock" in log:
        assert seen["files"][str(given)] == "read"
        assert seen["files"][str(secret)] == seen["files"]["/etc/shadow"] == "PermissionError"
        assert list(seen["writes"].values()) == ["PermissionError", "PermissionError", "written"]
    if "network='network namespace" in log:
        assert seen["network"] == "ConnectionRefusedError"  # its own loopback, on which nobody listens
    assert not {name for name in seen["environment"] if name.startswith(("ODF", "AWS", "PYTEST"))}
    assert seen["java_environment"] == str(fragile.folders.scratch)
    assert not list(fragile.folders.inputs.iterdir())
    assert not list(fragile.folders.outputs.iterdir())


def test_files_come_in_from_other_file_systems_too(spark_engine: SparkEngine) -> None:
    elsewhere = Path("/dev/shm")
    if (
        not elsewhere.is_dir()
        or elsewhere.stat().st_dev == spark_engine.folders.work.parent.parent.stat().st_dev
    ):
        pytest.skip("this machine has no second file system to write on")
    source = elsewhere / f"odf-{os.getpid()}.parquet"
    pq.write_table(pa.table({"a": [1]}), source)
    try:
        with spark_engine.exchange() as exchange:
            assert pq.read_table(exchange.put(source, "a.parquet")).to_pylist() == [{"a": 1}]
    finally:
        source.unlink()


def test_a_caller_that_goes_away_takes_its_jobs_with_it(fragile: SparkEngine) -> None:
    caller = subprocess.Popen(
        [sys.executable, "-c", _CALLER, json.dumps(fragile.options.to_json())],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    with caller, caller.stdout as said:
        assert said.readline().strip() == "working"
        caller.kill()
    _wait(lambda: "is gone; its jobs are ended" in fragile.folders.log.read_text())
    _wait(lambda: "A call failed" in fragile.folders.log.read_text().split("jobs are ended")[-1])
    assert sleep(fragile)


_CALLER = """
import json, sys
from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions
engine = SparkEngine(SparkOptions.from_json(json.loads(sys.argv[1])))
engine.run("long_job", {}, deadline=60, progress=lambda text: print(text, flush=True))
"""


def test_an_engine_that_exits_in_a_call_is_told_and_the_next_call_starts_another(
    fragile: SparkEngine,
) -> None:
    before = sleep(fragile)
    with pytest.raises(EngineDied) as caught:
        fragile.run("fail", {"how": "exit"}, deadline=60)
    assert caught.value.family == "unavailable"
    assert sleep(fragile) != before


def test_a_java_that_ends_ends_the_engine(fragile: SparkEngine) -> None:
    before = sleep(fragile)
    with pytest.raises(EngineDied):
        fragile.run("fail", {"how": "java"}, deadline=60)
    _wait(lambda: not fragile.running())
    assert sleep(fragile) != before


def test_a_killed_engine_leaves_nothing_in_the_way_and_racing_starters_start_one(
    fragile: SparkEngine,
) -> None:
    before = sleep(fragile)
    os.killpg(state_of(fragile)["group"], signal.SIGKILL)
    _wait(lambda: not fragile.running())
    assert fragile.folders.socket.exists()
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(sleep(SparkEngine(fragile.options)))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1
    assert found[0] != before


def test_a_call_past_its_deadline_is_killed_with_its_java(fragile: SparkEngine) -> None:
    sleep(fragile)
    group = state_of(fragile)["group"]
    with pytest.raises(EngineTimeout, match="within 1 s"):
        sleep(fragile, 60, deadline=1)
    assert not fragile.running()
    _wait(lambda: not _group_lives(group))


def test_stopping_ends_java_and_leaves_no_socket(fragile: SparkEngine) -> None:
    fragile.start()
    group = state_of(fragile)["group"]
    fragile.stop()
    assert not fragile.running()
    assert not fragile.folders.socket.exists()
    _wait(lambda: not _group_lives(group))
    fragile.stop()


def test_an_idle_engine_ends_by_itself(spark_engine: SparkEngine, tmp_path: Path) -> None:
    engine = SparkEngine(replace(spark_engine.options, work_dir=tmp_path, memory="512m", idle_seconds=0.5))
    engine.run("check_query", {"sql": "select 1", "inputs": {}}, deadline=120)
    _wait(lambda: not engine.running())
    assert "Nobody has asked" in engine.folders.log.read_text()


def test_a_start_that_fails_says_why(spark_engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound, match="has no bin/java"):
        SparkEngine(replace(spark_engine.options, java_home=tmp_path)).run("check_query", {}, deadline=60)
    with pytest.raises(EngineStartFailed, match="Invalid maximum heap size"):
        broken = SparkEngine(replace(spark_engine.options, memory="1x"))
        broken.run("check_query", {}, deadline=60)


def _wait(condition, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
