"""The README's way from a manifest and a CSV to a dataset that somebody else has, by its commands."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from odf_core.engines.handle import SparkEngine
from tests.spark_fixture import spark_environment

ROOT = Path(__file__).resolve().parents[2]
CSV = "event_time,station,mm\n2024-01-01,a,1.5\n2024-01-01,b,2\n2024-01-02,a,0\n"


def _odf(folder: Path, *arguments: str, status: int = 0) -> Any:
    command = [sys.executable, "-c", "from app.cli.main import main; main()", *arguments, "-o", "json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ODF_")}
    environment |= spark_environment() | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout or done.stderr)


@pytest.fixture
def rain(spark_engine: SparkEngine, tmp_path: Path) -> Path:
    """A folder with the README's manifest and a CSV, and a workspace that has added it."""
    manifest = re.search(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert manifest is not None
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "rain.yaml").write_text(manifest.group(1))
    (folder / "rain.csv").write_text(CSV)
    _odf(folder, "init")
    _odf(folder, "add", "rain.yaml")
    return folder


def test_the_quick_start(rain: Path, tmp_path: Path) -> None:
    ingested = _odf(rain, "ingest", "rain", "rain.csv")
    assert (ingested["result"], ingested["numRecords"]) == ("Updated", 3)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    _odf(elsewhere, "init")
    pulled = _odf(elsewhere, "pull", f"file://{rain}/rain")
    assert pulled["newHead"] == ingested["newHead"]
    _odf(elsewhere, "verify", "rain")
    told = _odf(elsewhere, "sql", "select station, sum(mm) as mm from rain group by station order by station")
    assert told == [{"station": "a", "mm": 1.5}, {"station": "b", "mm": 2.0}]
    assert _odf(rain, "ingest", "rain", "rain.csv")["result"] == "UpToDate"


def test_two_ingests_at_once_both_land_in_order(rain: Path) -> None:
    for name in "xy":
        rows = "".join(f"2024-02-01,{name}{number},1\n" for number in range(50))
        (rain / f"{name}.csv").write_text("event_time,station,mm\n" + rows)
    with ThreadPoolExecutor() as threads:
        done = list(threads.map(lambda name: _odf(rain, "ingest", "rain", f"{name}.csv"), "xy"))
    assert [item["numRecords"] for item in done] == [50, 50]
    records = _odf(rain, "tail", "rain", "-n", "200")
    assert [row["offset"] for row in records] == list(range(100))
    assert {row["station"][0] for row in records[:50]} in ({"x"}, {"y"})
    _odf(rain, "verify", "rain")
