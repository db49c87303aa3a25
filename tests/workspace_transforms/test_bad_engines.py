"""Engines that break their contract, checkpoints and slices that are not what the chain names, a full disk.

Each time: one sentence, nothing committed, nothing left over, and the next run goes on from the last commit.
The engine of the run evaluates each step; what it leaves is then spoilt as no real one does on request.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.errors import EngineDied, EngineTimeout
from odf_core.engines.handle import SparkEngine
from odf_core.engines.transforming import SparkTransforms
from odf_core.errors import OdfError
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import ExecuteTransform, OffsetInterval
from odf_core.transform.errors import (
    CheckpointUnreadable,
    EngineContractBroken,
    IncompatibleResult,
    InputFileMissing,
)
from odf_core.transform.port import Say, StepDone
from odf_core.transform.request import TransformRequest
from odf_core.workspace.transforms import Transforms
from odf_core.workspace.verification import verify_dataset
from tests.workspace_transforms.person import Person, csv, derivative, root

TOTALS = "select station, max(event_time) as event_time, sum(mm) as mm from rain group by station"
Spoil = Callable[[Path, StepDone], StepDone | None]


@dataclass
class Spoilt(SparkTransforms):
    """The real engine, until somebody meddles with what it left."""

    engine: SparkEngine
    spoil: Spoil

    def __post_init__(self) -> None:
        super().__init__(self.engine, 120.0)

    def execute(self, request: TransformRequest, say: Say) -> StepDone:
        done = super().execute(request, say)
        return self.spoil(Path(request.new_data_path), done) or done


@pytest.fixture
def totals(person: Person) -> Person:
    """A dataset of totals with one step, and records that are new to it."""
    person.add(root("rain"))
    person.push("rain", csv("01,a,1", "01,b,2"))
    person.add(derivative("totals", TOTALS, "rain"))
    person.pull("totals")
    person.push("rain", csv("02,a,5"))
    return person


def refused(person: Person, error: type[OdfError], transforms: Transforms) -> OdfError:
    """The error of an update that leaves everything as it was."""
    before = _files(person)
    with pytest.raises(error) as raised:
        transforms.update("totals")
    assert _files(person) == before
    assert raised.value.message.endswith(".")
    return raised.value


def _files(person: Person) -> dict[str, int]:
    return {
        str(path): path.stat().st_mtime_ns
        for path in person.workspace.root.rglob("*")
        if path.is_file() and path.suffix != ".lock" and "lock" not in path.name
    }


def goes_on(person: Person) -> None:
    person.pull("totals")
    assert person.records("totals")[-2:] == [(2, 1, "a", 1.0), (3, 2, "a", 6.0)]
    assert verify_dataset(person.workspace.dataset("totals")).ok


def rewritten(change: Callable[[pa.Table], pa.Table]) -> Spoil:
    def spoil(path: Path, done: StepDone) -> None:
        pq.write_table(change(pq.read_table(path)), path)

    return spoil


def _column(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    place = table.schema.get_field_index(name)
    item = table.schema.field(place)
    return table.set_column(place, item, pa.array(values, item.type))


def _no_file(path: Path, done: StepDone) -> None:
    path.unlink()


def _garbage(path: Path, done: StepDone) -> None:
    path.write_bytes(os.urandom(500))


def _half(path: Path, done: StepDone) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _link(path: Path, done: StepDone) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def _checkpoint_folder(path: Path, done: StepDone) -> None:
    checkpoint = path.with_name("checkpoint")
    checkpoint.unlink()
    checkpoint.mkdir()


def _boast(path: Path, done: StepDone) -> StepDone:
    assert done.new_offset_interval is not None
    start = done.new_offset_interval.start
    return replace(done, new_offset_interval=OffsetInterval(start=start, end=start + 9))


SPOILT: dict[str, tuple[Spoil, type[OdfError]]] = {
    "no file": (_no_file, EngineContractBroken),
    "garbage": (_garbage, EngineContractBroken),
    "half a file": (_half, EngineContractBroken),
    "a link": (_link, EngineContractBroken),
    "a folder for a checkpoint": (_checkpoint_folder, EngineContractBroken),
    "more records than there are": (_boast, EngineContractBroken),
    "a gap in the offsets": (rewritten(lambda table: _column(table, "offset", [2, 4])), EngineContractBroken),
    "no such operation": (rewritten(lambda table: _column(table, "op", [2, 7])), EngineContractBroken),
    "another system time": (
        rewritten(lambda table: _column(table, "system_time", [0, 0])),
        EngineContractBroken,
    ),
    "a column too few": (rewritten(lambda table: table.drop_columns(["mm"])), IncompatibleResult),
    "a column of another type": (
        rewritten(lambda table: table.set_column(5, "mm", table.column("mm").cast(pa.float32()))),
        IncompatibleResult,
    ),
}


def test_what_an_engine_leaves_is_not_believed(totals: Person) -> None:
    for spoil, error in SPOILT.values():
        engine = Spoilt(totals.engine, spoil)
        refused(totals, error, Transforms(totals.workspace, lambda transform, engine=engine: engine))
    goes_on(totals)


def test_an_engine_that_dies_or_hangs(totals: Person) -> None:
    for error in (EngineDied, EngineTimeout):

        def fail(path: Path, done: StepDone, error: type[OdfError] = error) -> StepDone:
            raise error("The engine does not answer.")

        engine = Spoilt(totals.engine, fail)
        refused(totals, error, Transforms(totals.workspace, lambda transform, engine=engine: engine))
    goes_on(totals)


def _checkpoint(person: Person) -> Path:
    dataset = person.workspace.dataset("totals")
    steps = [event for event in person.events("totals") if isinstance(event, ExecuteTransform)]
    known = steps[-1].new_checkpoint
    assert known is not None
    return dataset.folder.object_path(ObjectRef(ObjectKind.CHECKPOINT, known.physical_hash, known.size))


def test_a_checkpoint_that_is_missing_or_altered(totals: Person) -> None:
    path = _checkpoint(totals)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"PAR1", b"PAR2", 1))
    assert "was altered" in refused(totals, CheckpointUnreadable, totals.transforms()).message
    path.unlink()
    assert "is missing" in refused(totals, CheckpointUnreadable, totals.transforms()).message
    path.write_bytes(whole)
    goes_on(totals)


def test_a_slice_of_an_input_that_is_missing_or_cut(totals: Person) -> None:
    item = totals.slices("rain")[-1]
    folder = totals.workspace.dataset("rain").folder
    path = folder.object_path(ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    refused(totals, InputFileMissing, totals.transforms())
    path.unlink()
    refused(totals, InputFileMissing, totals.transforms())
    path.write_bytes(whole)
    goes_on(totals)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of three megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only who may mount file systems can have a full one")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(spark_engine: SparkEngine, small_disk: Path) -> None:
    person = Person.at(small_disk / "work", spark_engine)
    person.add(root("rain"))
    person.push("rain", csv("01,a,1", "01,b,2"))
    person.add(derivative("totals", TOTALS, "rain"))
    person.pull("totals")
    person.push("rain", csv("02,a,5"))
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 512)
        except OSError:
            pass
    head = person.workspace.dataset("totals").head
    with pytest.raises((OSError, OdfError), match="No space left"):
        person.pull("totals")
    assert person.workspace.dataset("totals").head == head
    ballast.unlink()
    goes_on(person)
