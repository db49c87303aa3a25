"""The README's derivative dataset, by its commands; and corrections that come through them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from odf_core.engines.handle import SparkEngine
from tests.spark_fixture import spark_environment

ROOT = Path(__file__).resolve().parents[2]


def _odf(folder: Path, *arguments: str, status: int = 0) -> Any:
    command = [sys.executable, "-c", "from app.cli.main import main; main()", *arguments, "-o", "json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ODF_")}
    environment |= spark_environment() | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout or done.stderr)


def test_the_readme(spark_engine: SparkEngine, tmp_path: Path) -> None:
    root, derivative = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[:2]
    (tmp_path / "rain.yaml").write_text(root)
    (tmp_path / "rain-daily.yaml").write_text(derivative)
    (tmp_path / "rain.csv").write_text(
        "event_time,station,mm\n2024-01-01,a,1.5\n2024-01-01,b,2\n2024-01-02,a,0\n"
    )
    _odf(tmp_path, "init")
    _odf(tmp_path, "add", "rain.yaml")
    _odf(tmp_path, "ingest", "rain", "rain.csv")
    (added,) = _odf(tmp_path, "add", "rain-daily.yaml")
    assert added["notes"] == []
    rain, daily = _odf(tmp_path, "pull", "rain-daily", "--recursive")
    assert (rain["result"], daily["result"], daily["numRecords"]) == ("UpToDate", "Updated", 2)
    assert _odf(tmp_path, "pull", "rain-daily")["result"] == "UpToDate"
    assert [(row["event_time"][:10], row["mm"]) for row in _odf(tmp_path, "tail", "rain-daily")] == [
        ("2024-01-01", 3.5),
        ("2024-01-02", 0.0),
    ]
    assert _odf(tmp_path, "lineage", "rain-daily")["upstream"] == [rain["datasetId"]]
    _odf(tmp_path, "verify", "rain-daily")

    bad = derivative.replace("sum(mm)", "sum(inches)").replace("rain-daily", "other")
    (tmp_path / "bad.yaml").write_text(bad)
    refused = _odf(tmp_path, "add", "bad.yaml", status=3)
    assert refused["code"] == "query_invalid"
    line = next(number for number, text in enumerate(bad.splitlines(), 1) if "query:" in text)
    assert refused["message"].startswith(f"bad.yaml, line {line}: ")

    head = _odf(tmp_path, "log", "rain")[0]["hash"]
    _odf(tmp_path, "reset", "rain", "--yes")
    diverged = _odf(tmp_path, "pull", "rain-daily", status=6)
    assert (diverged["code"], diverged["extras"]["block"]) == ("input_diverged", head)
