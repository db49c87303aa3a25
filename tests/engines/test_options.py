"""Options from the environment, and the same from the node's settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import load_settings
from odf_core.engines.options import EngineOptionsInvalid, SparkOptions

ENVIRONMENT = {
    "ODF_SPARK__MASTER": "local[2]",
    "ODF_SPARK__MEMORY": "3g",
    "ODF_SPARK__IDLE_SECONDS": "60",
    "ODF_SPARK__CALLS": "2",
    "ODF_SPARK__CONF": '{"spark.x": "1", "a": "b"}',
    "ODF_SPARK__WORK_DIR": "/somewhere",
    "ODF_SPARK__FOLDERS": '["/one"]',
    "ODF_SPARK__SANDBOX": "false",
}
OPTIONS = SparkOptions(
    master="local[2]",
    memory="3g",
    idle_seconds=60,
    calls=2,
    conf=(("a", "b"), ("spark.x", "1")),
    work_dir=Path("/somewhere"),
    folders=(Path("/one"),),
    sandbox=False,
)


def test_the_environment_and_the_settings_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SparkOptions.from_environment({}) == SparkOptions()
    assert SparkOptions.from_environment(ENVIRONMENT) == OPTIONS
    assert SparkOptions.from_json(OPTIONS.to_json()) == OPTIONS
    assert load_settings().spark.options() == SparkOptions()
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    assert load_settings().spark.options() == OPTIONS


@pytest.mark.parametrize(
    ("name", "value"),
    [("CALLS", "0"), ("IDLE_SECONDS", "soon"), ("CONF", "[1]"), ("SANDBOX", "maybe"), ("MASTER", "yarn")],
)
def test_values_that_cannot_be_used_are_named(name: str, value: str) -> None:
    with pytest.raises(EngineOptionsInvalid, match=f"ODF_SPARK__{name} has a value that cannot be used"):
        SparkOptions.from_environment({f"ODF_SPARK__{name}": value})


def test_callers_share_an_engine_unless_they_want_another() -> None:
    assert replace(OPTIONS, idle_seconds=1, call_seconds=1).digest("p") == OPTIONS.digest("p")
    assert replace(OPTIONS, memory="4g").digest("p") != OPTIONS.digest("p")
    assert OPTIONS.digest("a newer program") != OPTIONS.digest("p")
