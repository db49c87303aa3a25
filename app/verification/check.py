"""Integrity and replay of one dataset of the node."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import ExecuteTransform, StoredBlock
from odf_core.storage import DatasetStore, ObjectStore, dataset_prefix
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Locate, Target
from odf_core.verify import Finding, VerificationReport, VerifyOptions, verify_integrity
from odf_core.verify.findings import ReplayReport
from odf_core.verify.options import ReplayOptions
from odf_core.verify.replay import replay
from odf_core.workspace.transforms import ChooseEngine

SHOWN_FINDINGS = 100


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found; `steps` is None where no step was to be replayed."""

    head: Multihash
    integrity: VerificationReport | None
    steps: ReplayReport | None

    @property
    def findings(self) -> list[Finding]:
        """All findings, those of files first."""
        parts = (self.integrity, self.steps)
        return [finding for part in parts if part is not None for finding in part.findings]

    @property
    def ok(self) -> bool:
        """Nothing is wrong, and all that was asked for was looked at."""
        return all(part is None or part.ok for part in (self.integrity, self.steps))

    def summary(self) -> dict[str, Any]:
        """The verdict and its numbers, for pages."""
        return {
            "ok": self.ok,
            "head": str(self.head),
            "integrity": None if self.integrity is None else self.integrity.summary.to_json(),
            "replay": None if self.steps is None else self.steps.summary.to_json(),
        }

    def to_json(self) -> dict[str, Any]:
        """The summary and the first findings."""
        return {
            **self.summary(),
            "findings": [finding.to_json() for finding in self.findings[:SHOWN_FINDINGS]],
            "numFindings": len(self.findings),
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """A dataset with its whole chain, and the inputs that can be read here; others are errors."""

    target: Target
    blocks: Sequence[StoredBlock]
    inputs: Mapping[DatasetId, InputChain | OdfError] = field(default_factory=dict)

    @property
    def is_derivative(self) -> bool:
        """Whether its chain has steps to be replayed."""
        return any(isinstance(block.block.event, ExecuteTransform) for block in self.blocks)

    def chain(self, dataset_id: DatasetId) -> InputChain:
        """As `FindChain`."""
        found = self.inputs[dataset_id]
        if isinstance(found, OdfError):
            raise found
        return found


def check_files(store: ObjectStore, subject: Subject, limits: Limits) -> VerificationReport:
    """Every block, rule and object as the bucket has them. Raises `StoreUnavailable`."""
    dataset = DatasetStore(store, dataset_prefix(subject.target.dataset_id), limits=limits)
    return verify_integrity(dataset, VerifyOptions(head=subject.blocks[-1].hash, limits=limits))


def check_steps(
    subject: Subject, choose: ChooseEngine, locate: Locate, workdir: Path, options: ReplayOptions
) -> ReplayReport:
    """Every step evaluated again. Raises errors of engines and of a store that does not answer, and
    `InvalidInterval`."""
    one_by_one = in_turn(locate)
    return replay(subject.target, subject.blocks, subject.chain, choose, one_by_one, workdir, options)


def in_turn(locate: Locate) -> Callable[[DatasetId, ObjectRef], Path]:
    """`locate` for several threads: two that want one file must not write it at once."""
    lock = threading.Lock()

    def located(dataset_id: DatasetId, ref: ObjectRef) -> Path:
        with lock:
            return locate(dataset_id, ref)

    return located
