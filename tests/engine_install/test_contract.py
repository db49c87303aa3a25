"""What is refused of calls in another protocol, and passed over of a later release."""

import json
import subprocess

import msgspec
import pytest

from odf_core.engines import handle
from odf_core.engines.contract import DATAFUSION, PROTOCOL, require_identity, require_protocol
from odf_core.engines.datafusion.calls import StepAnswer
from odf_core.engines.datafusion.process import environment
from odf_core.engines.environments.records import Told
from odf_core.engines.errors import EngineIdentityDiffers, EngineProtocolUnsupported
from odf_core.engines.options import EngineOptionsInvalid, SparkOptions
from odf_core.engines.program import OWN


def test_another_protocol_and_another_identity_are_refused():
    require_protocol(PROTOCOL)
    for said in (PROTOCOL + 1, "1", None):
        with pytest.raises(EngineProtocolUnsupported):
            require_protocol(said)
    require_identity(None, "a")
    require_identity("a", "a")
    with pytest.raises(EngineIdentityDiffers, match="registered as b and is a now"):
        require_identity("b", "a")


def test_datafusion_refuses_what_it_cannot_read_and_goes_on(tmp_path):
    call = {
        "call": {"type": "validate", "query": {"steps": [], "tables": []}},
        "files": [],
        "folder": str(tmp_path),
    }
    call |= {"memory_bytes": 1 << 32}
    calls = [
        {"protocol": PROTOCOL + 1, "call": "of another form"},
        {"protocol": PROTOCOL, "call": "of another form"},
        {**call, "protocol": PROTOCOL, "identity": "54.1.0+odf.another"},
        {**call, "later": "a member that is not known"},
    ]
    lines = b"".join(json.dumps(item).encode() + b"\n" for item in calls)
    done = subprocess.run(
        OWN.command(DATAFUSION),
        input=lines,
        capture_output=True,
        env=environment(str(tmp_path)),
        timeout=60,
        check=True,
    )
    answers = [msgspec.json.decode(line, type=StepAnswer) for line in done.stdout.splitlines()]
    codes = [(item.error or {}).get("code") for item in answers]
    assert codes[:3] == ["engine_protocol_unsupported", "invalid_engine_request", "engine_identity_differs"]
    assert codes[3] not in codes[:3], "a call without a query is answered by the engine itself"


def test_spark_refuses_another_protocol(spark_engine, monkeypatch):
    monkeypatch.setattr(handle, "PROTOCOL", PROTOCOL + 1)
    with pytest.raises(EngineProtocolUnsupported, match=f"protocol {PROTOCOL + 1}"):
        spark_engine.run("check_query", {"sql": "select 1", "inputs": {}}, deadline=120)


def test_options_of_another_release():
    given = SparkOptions(memory="3g").to_json()
    assert SparkOptions.from_json({**given, "later": 1}) == SparkOptions(memory="3g")
    del given["exchange"], given["conf"], given["java_home"]
    assert SparkOptions.from_json(given) == SparkOptions(memory="3g")


def test_a_later_release_may_tell_more():
    later = {"protocol": 1, "engines": [{"name": "spark", "identity": "1", "new": 2}], "new": []}
    assert msgspec.convert(later, Told).engines[0].identity == "1"


def test_settings_that_could_change_a_result_are_refused():
    for name in ("spark.sql.ansi.enabled", "spark.sql.mapKeyDedupPolicy"):
        with pytest.raises(EngineOptionsInvalid, match=name):
            SparkOptions(conf=((name, "false"),))
    SparkOptions(conf=(("spark.sql.shuffle.partitions", "3"), ("spark.hadoop.fs.s3a.endpoint", "x")))
