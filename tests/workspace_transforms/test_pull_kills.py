"""kill -9 of `odf pull` or of its engine in mid-transform: afterwards everything is as if nothing had been.

One kill by default, as many as ODF_TEST_KILLS says; ODF_TEST_SEED repeats the moments of a run. The calm
twin of each round is a copy of the workspace in which nobody disturbs the pull. System time is pinned in
both, for it stands in the records; all the rest is the command as it is.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions
from odf_core.workspace import Workspace
from odf_core.workspace.verification import verify_dataset
from tests.workspace_transforms.person import Person, csv, derivative, root

ROOT = Path(__file__).resolve().parents[2]
KILLS = int(os.environ.get("ODF_TEST_KILLS", "1"))
SEED = int(os.environ.get("ODF_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
SECONDS_FOR_ONE = 120
WET = "select event_time, station, mm from rain where mm > 0"
TOTALS = (
    "select station, max(event_time) as event_time, sum(mm) as mm, count(*) as n from wet group by station"
)
MOST = (
    "select event_time, station, mm from (select event_time, station, mm, "
    "row_number() over (order by mm desc, station) as place from totals) where place <= 3"
)
NAMES = ("wet", "totals", "most")
PINNED = """
from app.cli.main import main
from odf_core.metadata import Timestamp
from odf_core.workspace import transforms
plain = transforms.Transforms
def pinned(*arguments, **options):
    return plain(*arguments, now=lambda: Timestamp.parse("2050-01-01T00:00:00Z"), **options)
transforms.Transforms = pinned
main()
"""

pytestmark = [pytest.mark.long, pytest.mark.timeout(300 + 60 * KILLS)]


@dataclass
class Puller:
    """Starts `odf pull most --recursive` in workspaces, under one engine."""

    environment: dict[str, str]

    def start(self, workspace: Workspace) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", PINNED, "pull", "most", "--recursive", "-o", "json"]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ODF_")}
        return subprocess.Popen(
            command,
            cwd=workspace.root.parent,
            env=inherited | self.environment | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, workspace: Workspace) -> float:
        """Pull undisturbed; the seconds that it took."""
        began = time.monotonic()
        process = self.start(workspace)
        out, err = process.communicate(timeout=SECONDS_FOR_ONE)
        assert process.returncode == 0, err
        assert [item["dataset"] for item in json.loads(out)] == ["rain", *NAMES]
        return time.monotonic() - began


@pytest.fixture
def engine() -> Iterator[tuple[SparkEngine, Puller]]:
    """One of this test's own, for it gets killed."""
    folder = Path(tempfile.mkdtemp(prefix="odf-k-"))
    environment = {
        "ODF_SPARK__RUNTIME_DIR": str(folder / "r"),
        "ODF_SPARK__WORK_DIR": str(folder / "w"),
        "ODF_SPARK__IDLE_SECONDS": "120",
    }
    made = SparkEngine(SparkOptions.from_environment(environment))
    yield made, Puller(environment)
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


def test_kills_leave_no_trace(engine: tuple[SparkEngine, Puller], tmp_path: Path) -> None:
    spark, puller = engine
    dice = random.Random(SEED)
    person = Person.at(tmp_path / "work", spark)
    manifests = (derivative("wet", WET, "rain"), derivative("totals", TOTALS, "wet"))
    person.add(root("rain"))
    person.push("rain", csv("01,a,1"))
    person.add(*manifests, derivative("most", MOST, "totals"))
    puller.finish(person.workspace)  # the engine is warm, and there is a state to go on from
    hits = {"pull": 0, "engine": 0, "too late": 0}
    for number in range(KILLS):
        person.push("rain", _records(dice))
        calm = _twin(person.workspace, tmp_path / f"calm-{number}")
        seconds = puller.finish(calm)
        victim = "engine" if (SEED + number) % 3 == 1 else "pull"
        has_hit = _disturbed(puller, spark, person.workspace, victim, dice.uniform(0.0, 0.4 * seconds))
        hits[victim if has_hit else "too late"] += 1
        puller.finish(person.workspace)
        for name in NAMES:
            assert _hashes(person, name) == _hashes(Person(calm, spark), name), (SEED, number, name)
            assert person.workspace.dataset(name).head == calm.dataset(name).head, (SEED, number, name)
            report = verify_dataset(person.workspace.dataset(name))
            assert report.ok, (SEED, report.findings)
        assert not list((person.workspace.root / "work").iterdir())
        shutil.rmtree(calm.root.parent)
    print(f"seed {SEED}: {KILLS} kills, {hits}")


def _disturbed(puller: Puller, spark: SparkEngine, workspace: Workspace, victim: str, after: float) -> bool:
    """Kill the victim some time after a pull has begun to compute; whether it was in time."""
    process = puller.start(workspace)
    deadline = time.monotonic() + SECONDS_FOR_ONE
    work = workspace.root / "work"
    while process.poll() is None and not any(work.glob("transform-*")):
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(after)
    in_time = process.poll() is None
    if victim == "pull":
        process.kill()
    elif in_time:
        os.killpg(json.loads(spark.folders.state.read_text())["group"], signal.SIGKILL)
    out, err = process.communicate(timeout=SECONDS_FOR_ONE)
    assert process.returncode in (-signal.SIGKILL, 0) or "engine_died" in err, (out, err)
    return in_time and process.returncode != 0


def _records(dice: random.Random) -> str:
    values = (0, 0.1, 0.2, 7, 1e16)
    rows = [(dice.randint(1, 28), dice.choice("abcdefgh"), dice.choice(values)) for _ in range(50)]
    return csv(*(f"{day:02},{station},{mm}" for day, station, mm in rows))


def _twin(workspace: Workspace, folder: Path) -> Workspace:
    shutil.copytree(workspace.root, folder / workspace.root.name, ignore=shutil.ignore_patterns("file-*"))
    return Workspace(folder / workspace.root.name)


def _hashes(person: Person, name: str) -> list[str]:
    return [str(item.logical_hash) for item in person.slices(name)]
