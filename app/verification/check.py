"""Integrity and replay of one dataset of the node."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.metadata import StoredBlock
from odf_core.storage import DatasetStore, ObjectStore, dataset_prefix
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Locate, Target
from odf_core.verify import Finding, ProgressCallback, VerificationReport, VerifyOptions, verify_integrity
from odf_core.verify.findings import ReplayReport
from odf_core.verify.options import ReplayOptions
from odf_core.verify.replay import replay
from odf_core.workspace.transforms import ChooseEngine

SHOWN_FINDINGS = 100


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found; `steps` is None where no step was to be replayed. `further` is about inputs."""

    head: Multihash
    integrity: VerificationReport | None
    steps: ReplayReport | None
    further: tuple[Finding, ...] = ()

    @property
    def findings(self) -> list[Finding]:
        """All findings, those about inputs first, then those of files."""
        parts = (self.integrity, self.steps)
        return [*self.further, *(item for part in parts if part is not None for item in part.findings)]

    @property
    def ok(self) -> bool:
        """Nothing is wrong, and all that was asked for was looked at."""
        return all(part is None or part.ok for part in (self.integrity, self.steps)) and not self.further

    def summary(self) -> dict[str, Any]:
        """The verdict and its numbers, for pages."""
        return {
            "ok": self.ok,
            "head": str(self.head),
            "integrity": None if self.integrity is None else self.integrity.summary.to_json(),
            "replay": None if self.steps is None else self.steps.summary.to_json(),
        }

    def to_json(self, shown: int = SHOWN_FINDINGS) -> dict[str, Any]:
        """The summary and the first findings."""
        return {
            **self.summary(),
            "findings": [finding.to_json() for finding in self.findings[:shown]],
            "numFindings": len(self.findings),
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """A dataset with its whole chain, and the inputs that can be read here; others are errors."""

    target: Target
    blocks: Sequence[StoredBlock]
    inputs: Mapping[DatasetId, InputChain | OdfError] = field(default_factory=dict)

    @property
    def missing(self) -> dict[DatasetId, OdfError]:
        """The inputs that cannot be read here, and why."""
        return {name: found for name, found in self.inputs.items() if isinstance(found, OdfError)}

    def chain(self, dataset_id: DatasetId) -> InputChain:
        """As `FindChain`."""
        found = self.inputs[dataset_id]
        if isinstance(found, OdfError):
            raise found
        return found


def check_files(
    store: ObjectStore, subject: Subject, options: VerifyOptions, progress: ProgressCallback | None = None
) -> VerificationReport:
    """Every block, rule and object as the bucket has them. Raises `StoreUnavailable`."""
    dataset = DatasetStore(store, dataset_prefix(subject.target.dataset_id), limits=options.limits)
    head = subject.blocks[-1].hash
    return verify_integrity(dataset, replace(options, head=head), progress=progress)


def check_steps(
    subject: Subject,
    choose: ChooseEngine,
    locate: Locate,
    workdir: Path,
    options: ReplayOptions,
    progress: ProgressCallback | None = None,
) -> ReplayReport:
    """Every step evaluated again; several threads call `locate`. Raises errors of engines and of a store
    that does not answer, and `InvalidInterval`."""
    return replay(
        subject.target, subject.blocks, subject.chain, choose, locate, workdir, options, progress=progress
    )


def in_turn(locate: Locate) -> Callable[[DatasetId, ObjectRef], Path]:
    """`locate` for several threads: two that want one file must not write it at once."""
    lock = threading.Lock()

    def located(dataset_id: DatasetId, ref: ObjectRef) -> Path:
        with lock:
            return locate(dataset_id, ref)

    return located
