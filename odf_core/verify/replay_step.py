"""One recorded step, evaluated again and held against its block."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odf_core.engines.errors import EngineFailed
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.metadata import Checkpoint, DataSlice
from odf_core.transform.chains import InputChain
from odf_core.transform.commit import recorded_event
from odf_core.transform.derivation import RecordedStep
from odf_core.transform.errors import EngineContractBroken
from odf_core.transform.execute import Executed, Locate, Target, execute_step
from odf_core.transform.plan import PlannedStep, plan_recorded
from odf_core.transform.port import TransformEngine
from odf_core.verify.findings import Finding, Severity
from odf_core.verify.options import ReplayOptions
from odf_core.verify.rows import TableDifference, compare_slices
from odf_core.verify.step_comparison import StepDifference, input_differences, outcome_differences
from odf_core.verify.trouble import raise_if_trouble

NOT_REPRODUCIBLE = "not_reproducible"


@dataclass(slots=True)
class CarriedCheckpoint:
    """What the step before has left in a replay, in a file `path`; lost after a step that failed."""

    path: Path
    checkpoint: Checkpoint | None = None
    is_lost: bool = False

    def instead_of_recorded(self, step: PlannedStep) -> PlannedStep:
        """The step, going on from here."""
        return replace(step, before=replace(step.before, last_checkpoint=self.checkpoint))

    def located(self, locate: Locate) -> Locate:
        """`locate`, which finds this checkpoint too."""
        known = self.checkpoint

        def found(dataset_id: DatasetId, ref: ObjectRef) -> Path:
            is_own = known is not None and ref.kind is ObjectKind.CHECKPOINT
            return self.path if is_own else locate(dataset_id, ref)

        return found

    def take(self, executed: Executed) -> None:
        """Keep what a step has left."""
        self.checkpoint = executed.checkpoint
        if executed.checkpoint is not None:
            shutil.move(executed.checkpoint_path, self.path)


@dataclass(frozen=True, slots=True)
class StepReplay:
    """What every step of a chain is replayed with; `workdir` is an existing folder."""

    target: Target
    locate: Locate
    workdir: Path
    options: ReplayOptions

    def run(
        self,
        step: RecordedStep,
        inputs: Sequence[InputChain],
        engine: TransformEngine,
        version: str,
        carried: CarriedCheckpoint | None = None,
    ) -> Finding | None:
        """What is wrong with a step, None where it comes out as recorded; `version` is the engine's.

        With `carried` the step goes on from that checkpoint, and leaves its own there. Raises only what
        tells nothing about the dataset: an engine or a store that does not answer.
        """
        try:
            return self._run(step, inputs, engine, version, carried)
        except OdfError as error:
            _raise_if_elsewhere(error)
            if carried is not None:
                carried.is_lost = True
            return _failed(error, step, engine, version)

    def _run(
        self,
        step: RecordedStep,
        inputs: Sequence[InputChain],
        engine: TransformEngine,
        version: str,
        carried: CarriedCheckpoint | None,
    ) -> Finding | None:
        planned = plan_recorded(step.before, step.event, inputs, changed_since=step.changed_since)
        differences = list(input_differences(planned, step.event))
        folder = Path(tempfile.mkdtemp(prefix="step-", dir=self.workdir))
        locate = self.locate
        if carried is not None:
            planned, locate = carried.instead_of_recorded(planned), carried.located(self.locate)
        try:
            executed = execute_step(
                planned, self.target, engine, step.block.block.system_time, locate, folder
            )
            differences += outcome_differences(
                step.event, recorded_event(executed), checkpoint=_is_pinned(planned, version)
            )
            table = self._compare(step.event.new_data, executed)
            if carried is not None:
                carried.take(executed)
        except OdfError as error:
            if not differences:
                raise
            _raise_if_elsewhere(error)  # forged inputs may well be none that the query can be run over
            table = TableDifference((f"it cannot be evaluated: {error.message}",))
            if carried is not None:
                carried.is_lost = True
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        found = _finding(step, differences, table, engine, version)
        if found is None:
            self._check_checkpoint(step.event.new_checkpoint)
        return found

    def _check_checkpoint(self, recorded: Checkpoint | None) -> None:
        """Its name is right; raises where the file is not there, or has other bytes than its name says."""
        if recorded is not None:
            ref = ObjectRef(ObjectKind.CHECKPOINT, recorded.physical_hash, recorded.size)
            self.locate(self.target.dataset_id, ref)

    def _compare(self, recorded: DataSlice | None, executed: Executed) -> TableDifference:
        stored = None
        if recorded is not None:
            ref = ObjectRef(ObjectKind.DATA_SLICE, recorded.physical_hash, recorded.size)
            stored = self.locate(self.target.dataset_id, ref)
        recomputed = None if executed.data is None else executed.data.path
        return compare_slices(stored, recomputed, most=self.options.rows, limits=self.options.limits)


def _raise_if_elsewhere(error: OdfError) -> None:
    """Raises what does not tell of the step; an engine that fails with it, and only with it, does."""
    if not isinstance(error, EngineContractBroken | EngineFailed):
        raise_if_trouble(error)


def _is_pinned(planned: PlannedStep, version: str) -> bool:
    """Whether the chain was made by this very engine: equal states then have equal bytes."""
    return planned.transform.version is not None and planned.transform.version == version


def _facts(step: RecordedStep, engine: TransformEngine, version: str) -> dict[str, Any]:
    return {
        "sequenceNumber": step.block.block.sequence_number,
        "engine": {"name": engine.name, "version": version},
    }


def _failed(error: OdfError, step: RecordedStep, engine: TransformEngine, version: str) -> Finding:
    return Finding(
        error.code,
        Severity.ERROR,
        f"Block {step.block.hash} cannot be replayed: {error.message}",
        error.objects,
        str(step.block.hash),
        {**_facts(step, engine, version), **error.extras},
    )


def _finding(
    step: RecordedStep,
    differences: Sequence[StepDifference],
    table: TableDifference,
    engine: TransformEngine,
    version: str,
) -> Finding | None:
    if not differences and not table:
        return None
    said = [str(item) for item in differences] + list(table.columns)
    if table.rows:
        said.append(f"rows differ from row {table.rows[0].row} on")
    return Finding(
        NOT_REPRODUCIBLE,
        Severity.ERROR,
        f"Block {step.block.hash} is not what its query gives: {'; '.join(said)}.",
        (),
        str(step.block.hash),
        {
            **_facts(step, engine, version),
            "differences": [item.to_json() for item in differences],
            "columns": list(table.columns),
            "rows": [item.to_json() for item in table.rows],
        },
    )
