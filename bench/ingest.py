"""Ingest: into long and short histories, a large CSV, and ten rows with the engine warm and cold."""

import csv
import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.figures import Aim, Figure, Row
from bench.filled import START, filled
from bench.memory import PeakMemory
from bench.stage import Stage
from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.options import SparkOptions
from odf_core.metadata import MergeStrategyAppend, MergeStrategyLedger
from odf_core.workspace import Workspace
from odf_core.workspace.ingests import Ingests

TITLE = "ingest: histories of 100 thousand and 10 million records, a CSV of a GB, ten rows"
_CSV_BYTES = 1_000_000_000
_TEN = "event_time,station,reading,counter\n" + "2024-01-01T00:00:00Z,s,1.5,{}\n" * 10


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions; everything runs on one engine, which is warm but for the cold start."""
    options = SparkOptions(runtime_dir=_folder(stage), work_dir=_folder(stage))
    engine = SparkEngine(options)
    try:
        rows = [*_ledgers(stage, engine), *_large(stage, engine), *_small(stage, options)]
    finally:
        engine.stop()
    return rows, (
        "Ledger: 1,000 new and 1,000 known keys (an event time and a text). The CSV has four columns; Spark "
        "alone reads it with its schema declared and writes one Parquet file, in a warm session of its own. "
        " Ten rows: `odf ingest` as a process, from its start to its end. Memory: all processes of "
        "the engine and this one."
    )


def _ledgers(stage: Stage, engine: SparkEngine) -> list[Row]:
    figures = {}
    for known in (100_000, 10_000_000):
        stage.say(f"ingest: ledger with {known:,} known records")
        workspace = Workspace.init(_folder(stage))
        dataset = filled(
            workspace, "ledger", MergeStrategyLedger(primary_key=("event_time", "station")), known
        )
        ingests = Ingests(workspace, SparkMerges(engine, 600))
        taken = []
        for number in range(stage.rounds + 1):
            path = _folder(stage) / "new.csv"
            _write_rows(path, [*range(1000), *range(known + 1000 * number, known + 1000 * (number + 1))])
            started = time.perf_counter()
            done = ingests.push(str(dataset.alias), path)
            taken.append(time.perf_counter() - started)
            if done.num_records != 1000:
                raise RuntimeError(f"the ledger took {done.num_records} records")
        figures[known] = Figure.of(taken[1:])
    aim = Aim(8)
    return [
        Row.times(
            "1,000 new rows into 10 million; into 100 thousand", figures[10_000_000], figures[100_000], aim
        )
    ]


def _large(stage: Stage, engine: SparkEngine) -> list[Row]:
    path = _folder(stage) / "large.csv"
    stage.say("ingest: writing a CSV of a GB")
    _write_large(path)
    ours, alone, peaks = [], [], []
    for number in range(stage.rounds):
        stage.say(f"ingest: a CSV of a GB, round {number + 1} of {stage.rounds}")
        workspace = Workspace.init(_folder(stage))
        dataset = filled(workspace, "large", MergeStrategyAppend(), 0)
        with PeakMemory("odf_core.engines") as memory:
            started = time.perf_counter()
            Ingests(workspace, SparkMerges(engine, 1200)).push("large", path)
            ours.append(time.perf_counter() - started)
        peaks.append(memory.megabytes)
        workspace.delete(dataset)
    stage.say("ingest: the same by Spark alone")
    alone = _spark_alone(path, _folder(stage), stage.rounds)
    return [
        Row.times(
            "CSV of a GB to a committed slice; Spark alone", Figure.of(ours), Figure.of(alone), Aim(1.6)
        ),
        Row("peak memory meanwhile", Figure.of(peaks, "MB"), aim=Aim(4000, "MB")),
    ]


def _small(stage: Stage, options: SparkOptions) -> list[Row]:
    workspace = Workspace.init(_folder(stage))
    dataset = filled(workspace, "small", MergeStrategyAppend(), 0)
    environment = os.environ | {
        "ODF_SPARK__WORK_DIR": str(options.work_dir),
        "ODF_RUNTIME_DIR": str(options.runtime_dir),
    }

    def once() -> float:
        return _timed(lambda: _odf_ingest(workspace, str(dataset.alias), environment))

    stage.say("ingest: ten rows, the engine stopped before")
    cold = []
    for _ in range(stage.rounds):
        SparkEngine(SparkOptions.from_environment(environment)).stop()
        cold.append(once())
    stage.say("ingest: ten rows, the engine warm")
    for _ in range(10):
        once()
    warm = [once() for _ in range(stage.rounds)]
    return [
        Row("`odf ingest` of ten rows, warm", Figure.of(warm), aim=Aim(2, "s")),
        Row("the same, cold", Figure.of(cold), aim=Aim(15, "s")),
    ]


def _odf_ingest(workspace: Workspace, name: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-c", "from app.cli.main import main; main()", "ingest", name, "-"]
    text = _TEN.format(*range(10))
    environment = environment | {"ODF_WORKSPACE": str(workspace.root.parent), "PYTHONPATH": str(Path.cwd())}
    subprocess.run(command, input=text.encode(), env=environment, check=True, stdout=subprocess.DEVNULL)


def _write_rows(path: Path, numbers: list[int]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["event_time", "station", "reading", "counter"])
        for number in numbers:
            moment = START + np.timedelta64(number, "s")
            writer.writerow([f"{moment}Z", f"station-{number % 97}", number / 7, number])


def _write_large(path: Path) -> None:
    """The same 100,000 lines again and again, each time with other first letters."""
    text = io.StringIO()
    for number in range(100_000):
        text.write(f"{START + np.timedelta64(number, 's')}Z,station-{number % 97},{number / 7},{number}\n")
    block = text.getvalue().encode()
    with path.open("wb") as file:
        file.write(b"event_time,station,reading,counter\n")
        for number in range(_CSV_BYTES // len(block)):
            file.write(block.replace(b"station", f"station{number}".encode()))


def _spark_alone(path: Path, folder: Path, rounds: int) -> list[float]:
    command = [sys.executable, "-m", "bench.spark_alone", str(path), str(folder), str(rounds)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line) for line in done.stdout.split()]


def _folder(stage: Stage) -> Path:
    path = stage.new_folder()
    path.mkdir(parents=True, exist_ok=True)
    return path


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
