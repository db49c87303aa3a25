"""Transformations: steps on short and long histories, many rows, replay, the two engines side by side."""

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Aim, Figure, Row
from bench.filled import SLICE_ROWS, add_records, derived, filled, slice_files
from bench.stage import Stage
from odf_core.engines.handle import SparkEngine
from odf_core.engines.installed import InstalledEngines
from odf_core.engines.options import SparkOptions
from odf_core.metadata import MergeStrategyAppend
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target
from odf_core.transform.port import TransformEngine
from odf_core.verify.replay import replay
from odf_core.workspace import LocalDataset, Workspace
from odf_core.workspace.transforms import Transforms

TITLE = "transforms: histories of 10 thousand and 5 million rows, 10 million rows, replay, two engines"
SHORT_ROWS = 10_000
LONG_ROWS = 5_000_000
NEW_ROWS = 1_000
LARGE_ROWS = 10_000_000
REPLAYED_STEPS = 200
REPLAYED_ROWS = 100
"""New rows of each step that is replayed."""
WARMING_STEPS = 20
BEHIND_SECONDS = 3600
"""How far the watermark is behind the last row; rows are a second apart."""
MEASURED_AT_LEAST = 5
"""Small steps are measured so often, however few the rounds."""

MAP = "SELECT event_time, station, reading * 2 AS doubled, counter FROM readings"
WINDOWED = (
    "SELECT window.start AS event_time, station, count(*) AS records, max(reading) AS highest "
    "FROM readings GROUP BY window(event_time, '10 minutes'), station"
)
QUERIES = {"stateless": MAP, "windowed": WINDOWED}
_ALONE = MAP.replace("SELECT", "SELECT offset, op, TIMESTAMP '2024-01-01 00:00:00' AS system_time,")
_CALL_SECONDS = 1200.0


@dataclass(frozen=True, slots=True)
class _Engines:
    spark: TransformEngine
    datafusion: TransformEngine


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions; everything of Spark runs on one engine, which is warm."""
    options = SparkOptions(runtime_dir=_folder(stage), work_dir=_folder(stage), call_seconds=_CALL_SECONDS)
    installed = InstalledEngines(spark=options)
    engines = _Engines(installed.named("spark"), installed.named("datafusion"))
    try:
        rows = [
            *_engines(stage, engines),
            *_replays(stage, engines.spark),
            *_histories(stage, engines.spark),
            *_large(stage, engines.spark),
        ]
    finally:
        SparkEngine(options).stop()
    return rows, (
        f"A step is everything from the call to the committed block. Small steps have {NEW_ROWS:,} new rows "
        f"({REPLAYED_ROWS} where they are replayed), windows 10 minutes and the watermark an hour behind; "
        f"{WARMING_STEPS} steps before the first that counts. A replay recomputes the step, its hashes and "
        "compares the rows. Spark alone is a warm session of its own, which reads the same slices and writes "
        "the same rows into one Parquet file, without hashes."
    )


def _engines(stage: Stage, engines: _Engines) -> list[Row]:
    """The same small query on both; first, since it warms the JVM for what follows."""
    figures = []
    for engine in (engines.spark, engines.datafusion):
        stage.say(f"transforms: a small query by {engine.name}")
        steps = _Steps(Workspace.init(_folder(stage)), SHORT_ROWS, MAP, engine)
        figures.append(Figure.of(steps.measured(stage.rounds)))
    return [Row.times(f"a step over {NEW_ROWS:,} rows by DataFusion; by Spark", figures[1], figures[0])]


def _replays(stage: Stage, engine: TransformEngine) -> list[Row]:
    rows = []
    for (what, query), bound in zip(QUERIES.items(), (0.15, 0.6), strict=True):
        stage.say(f"transforms: {REPLAYED_STEPS} {what} steps to be replayed")
        workspace = Workspace.init(_folder(stage))
        steps = _Steps(workspace, 0, query, engine, REPLAYED_ROWS)
        made = [steps.once() for _ in range(REPLAYED_STEPS)]
        taken = []
        for number in range(stage.rounds):
            stage.say(f"transforms: {what} steps replayed, round {number + 1} of {stage.rounds}")
            taken.append(_replay(workspace, steps.target, steps.source, engine, _folder(stage)))
        alone = _alone(query, _folder(stage), WARMING_STEPS, slice_files(steps.source)[-50:], each=True)
        rows.append(
            Row(
                f"replay of {REPLAYED_STEPS} {what} steps, each; plain Spark SQL over the slice",
                Figure.of(taken, "s"),
                Figure.of(alone),
                aim=Aim(bound, "s"),
            )
        )
        rows.append(Row(f"the same {what} steps when they were made, each", Figure.of(made)))
    return rows


def _histories(stage: Stage, engine: TransformEngine) -> list[Row]:
    rows = []
    for what, query in QUERIES.items():
        figures = []
        for known in (SHORT_ROWS, LONG_ROWS):
            stage.say(f"transforms: {what}, a history of {known:,} rows")
            steps = _Steps(Workspace.init(_folder(stage)), known, query, engine)
            figures.append(Figure.of(steps.measured(stage.rounds)))
        rows.append(
            Row.times(
                f"{what}: {NEW_ROWS:,} new rows on {LONG_ROWS:,}; on {SHORT_ROWS:,}",
                figures[1],
                figures[0],
                Aim(1.5),
            )
        )
    return rows


def _large(stage: Stage, engine: TransformEngine) -> list[Row]:
    stage.say(f"transforms: {LARGE_ROWS:,} rows")
    workspace = Workspace.init(_folder(stage))
    source = filled(workspace, "source", MergeStrategyAppend(), LARGE_ROWS)
    ours = []
    for number in range(stage.rounds):
        stage.say(f"transforms: {LARGE_ROWS:,} rows, round {number + 1} of {stage.rounds}")
        target = derived(workspace, f"target-{number}", source, MAP, engine)
        ours.append(_update(workspace, target, engine, LARGE_ROWS))
        workspace.delete(target)
    stage.say("transforms: the same by Spark alone")
    alone = _alone(_ALONE, _folder(stage), stage.rounds, slice_files(source))
    return [
        Row.times(
            f"{LARGE_ROWS:,} rows to a committed step; plain Spark SQL to one file",
            Figure.of(ours),
            Figure.of(alone),
            Aim(1.4),
        )
    ]


class _Steps:
    """A dataset that grows, and one that follows it: one step for each new slice."""

    def __init__(
        self,
        workspace: Workspace,
        history: int,
        query: str,
        engine: TransformEngine,
        rows: int = NEW_ROWS,
    ) -> None:
        self._workspace, self._engine, self._rows, self._next = workspace, engine, rows, history
        self.source = filled(workspace, "source", MergeStrategyAppend(), 0)
        self.target = derived(workspace, "target", self.source, query, engine)
        for start in range(0, history, SLICE_ROWS):
            self._add(start, min(SLICE_ROWS, history - start))
            _update(workspace, self.target, engine)

    def _add(self, start: int, rows: int) -> None:
        add_records(self._workspace, self.source, start, rows, behind=BEHIND_SECONDS)

    def once(self) -> float:
        """Seconds of one more step."""
        self._add(self._next, self._rows)
        self._next += self._rows
        return _update(self._workspace, self.target, self._engine)

    def measured(self, rounds: int) -> list[float]:
        """Seconds of steps after some that warm up."""
        for _ in range(WARMING_STEPS):
            self.once()
        return [self.once() for _ in range(max(rounds, MEASURED_AT_LEAST))]


def _update(
    workspace: Workspace, target: LocalDataset, engine: TransformEngine, expected: int | None = None
) -> float:
    """Seconds of one step from the call to the committed block."""
    transforms = Transforms(workspace, lambda transform: engine)
    started = time.perf_counter()
    done = transforms.update(target.id)
    taken = time.perf_counter() - started
    if not done.num_records or done.num_records != (expected or done.num_records):
        raise RuntimeError(f"the step gave {done.num_records} records")
    return taken


def _replay(
    workspace: Workspace, target: LocalDataset, source: LocalDataset, engine: TransformEngine, workdir: Path
) -> float:
    """Seconds for each step of the chain, all of which have to be reproduced."""
    places = {item.id: workspace.dataset(item.id).folder for item in (target, source)}
    started = time.perf_counter()
    chain = InputChain(source.id, "source", list(places[source.id].walk())[::-1])
    report = replay(
        Target(target.id, "target"),
        list(places[target.id].walk())[::-1],
        lambda dataset: chain,
        lambda transform: engine,
        lambda dataset, ref: places[dataset].object_path(ref),
        workdir,
    )
    taken = time.perf_counter() - started
    if report.findings or report.summary.replayed != REPLAYED_STEPS:
        raise RuntimeError(f"the replay of {report.summary.replayed} steps has found {report.findings[:3]}")
    return taken / REPLAYED_STEPS


def _alone(
    query: str, folder: Path, rounds: int, files: Sequence[Path], *, each: bool = False
) -> list[float]:
    command = [sys.executable, "-m", "bench.spark_query", *(["--each"] if each else []), query, str(folder)]
    command += [str(rounds), *map(str, files)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [float(line) for line in done.stdout.split()]


def _folder(stage: Stage) -> Path:
    path = stage.new_folder()
    path.mkdir(parents=True, exist_ok=True)
    return path
