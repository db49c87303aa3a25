"""Verifying datasets of a workspace: integrity, replay, and everything that they are computed from."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.metadata import StoredBlock
from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target
from odf_core.verify import (
    Finding,
    Progress,
    ProgressCallback,
    ReplayOptions,
    ReplayReport,
    VerificationReport,
    VerifyOptions,
    verify_integrity,
)
from odf_core.verify.lineage import InputVerdict, input_findings, input_ids, inputs_first, is_computed
from odf_core.verify.replay import replay
from odf_core.verify.trouble import raise_if_trouble
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.equivalence import choose_equivalent
from odf_core.workspace.transforms import ChooseEngine
from odf_core.workspace.workspace import Workspace

DatasetProgress = Callable[[LocalDataset, Progress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationOptions:
    """What is verified of each dataset; None: not this. `recursive` adds what they are computed from, of
    which all blocks are looked at, whatever range the options name. `replay_if_possible`: a dataset whose
    inputs are not here is not replayed, which is a remark and no finding.
    """

    integrity: VerifyOptions | None = field(default_factory=VerifyOptions)
    replay: ReplayOptions | None = None
    recursive: bool = False
    replay_if_possible: bool = False


@dataclass(frozen=True, slots=True)
class DatasetVerified:
    """What came of one dataset; `replay` is None for a root dataset too. `findings` are about its inputs;
    `remark` says why it was not replayed, where that was not asked for."""

    dataset: LocalDataset
    head: Multihash | None
    integrity: VerificationReport | None
    replay: ReplayReport | None
    findings: tuple[Finding, ...] = ()
    remark: str | None = None

    @property
    def ok(self) -> bool:
        """Everything that was asked for was looked at, and is as it should be."""
        reports = [report.ok for report in (self.integrity, self.replay) if report is not None]
        return all(reports) and not self.findings

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of all parts."""
        integrity = [] if self.integrity is None else self.integrity.findings
        replayed = [] if self.replay is None else self.replay.findings
        return (*self.findings, *integrity, *replayed)


@dataclass(slots=True)
class Verifications:
    """Verifies datasets of a workspace; steps are evaluated by the engines that `choose` gives."""

    workspace: Workspace
    choose: ChooseEngine
    progress: DatasetProgress = field(default=lambda dataset, progress: None)

    def run(
        self, datasets: Sequence[LocalDataset], options: VerificationOptions
    ) -> Iterator[DatasetVerified]:
        """Each dataset once, inputs before what is computed from them; damage is told, not raised.

        Raises the errors of a disk or an engine that does not answer, and `InvalidInterval` for a range whose
        ends are no blocks of the chain.
        """
        named = {dataset.id for dataset in datasets}
        whole = _whole_chains(options)
        verdicts: dict[DatasetId, DatasetVerified] = {}
        for dataset in self._ordered(datasets) if options.recursive else _once(datasets):
            chosen = options if dataset.id in named else whole
            verdict = self._verify(dataset, chosen, verdicts)
            verdicts[dataset.id] = verdict
            yield verdict

    def _verify(
        self,
        dataset: LocalDataset,
        options: VerificationOptions,
        verdicts: dict[DatasetId, DatasetVerified],
    ) -> DatasetVerified:
        def show(progress: Progress) -> None:
            self.progress(dataset, progress)

        integrity = replayed = None
        if options.integrity is not None:
            integrity = verify_dataset(dataset, options.integrity, show)
        blocks, broken = _readable_blocks(dataset)
        remark = None
        if options.replay is not None and is_computed(blocks):
            missing = [item for item in input_ids(blocks) if self.workspace.find_dataset(item) is None]
            if missing and options.replay_if_possible and not options.recursive:
                remark = (
                    f"not replayed: {', '.join(map(str, missing))} is not in this workspace; "
                    "`odf pull --recursive` brings what a dataset is computed from"
                )
            else:
                replayed = self._replay(dataset, blocks, options.replay, show)
        findings: list[Finding] = []
        if options.recursive:
            known = {item: InputVerdict(str(told.dataset.alias), told.ok) for item, told in verdicts.items()}
            findings += input_findings(input_ids(blocks), known, _not_here)
        if broken is not None and integrity is None:
            findings.append(broken)
        head = blocks[-1].hash if blocks else None
        return DatasetVerified(dataset, head, integrity, replayed, tuple(findings), remark)

    def _replay(
        self,
        dataset: LocalDataset,
        blocks: Sequence[StoredBlock],
        options: ReplayOptions,
        show: ProgressCallback,
    ) -> ReplayReport:
        folders = {dataset.id: dataset.folder}

        def chain(dataset_id: DatasetId) -> InputChain:
            found = self.workspace.dataset(dataset_id)
            folders[dataset_id] = found.folder
            return InputChain(found.id, _name(found), list(found.folder.walk())[::-1])

        def locate(dataset_id: DatasetId, ref: ObjectRef) -> Path:
            return folders[dataset_id].object_path(ref)

        target = Target(dataset.id, _name(dataset))
        with _workdir(self.workspace) as workdir:
            choose = choose_equivalent(self.choose, self.workspace.root, dataset.id)
            return replay(target, blocks, chain, choose, locate, workdir, options, progress=show)

    def _ordered(self, datasets: Sequence[LocalDataset]) -> list[LocalDataset]:
        """The datasets and all that they are computed from, inputs first, as far as they are here."""
        found = {dataset.id: dataset for dataset in datasets}

        def inputs(dataset_id: DatasetId) -> Iterator[DatasetId]:
            for item in input_ids(_readable_blocks(found[dataset_id])[0]):
                here = found.get(item) or self.workspace.find_dataset(item)
                if here is not None:
                    found[item] = here
                    yield item

        return [found[item] for item in inputs_first(list(found), inputs)]


def _not_here(dataset_id: DatasetId) -> str:
    return f"The input {dataset_id} is not in this workspace; pull it, and verify again."


def verify_dataset(
    dataset: LocalDataset, options: VerifyOptions | None = None, progress: ProgressCallback | None = None
) -> VerificationReport:
    """Every block, every rule, every object of a local dataset; damage is told in the report.

    Raises the errors of a disk that does not answer.
    """
    store = DatasetStore(DirectoryStore(dataset.path), "")
    return verify_integrity(store, options, progress=progress)


def _readable_blocks(dataset: LocalDataset) -> tuple[list[StoredBlock], Finding | None]:
    """All blocks, oldest first; none, and why, where one cannot be read."""
    try:
        return list(dataset.folder.walk())[::-1], None
    except OdfError as error:
        raise_if_trouble(error)
        return [], Finding.of_error(error)


def _whole_chains(options: VerificationOptions) -> VerificationOptions:
    integrity, replayed = options.integrity, options.replay
    return replace(
        options,
        integrity=integrity and replace(integrity, head=None, tail=None, recent=None),
        replay=replayed and replace(replayed, first=None, last=None),
    )


def _once(datasets: Sequence[LocalDataset]) -> list[LocalDataset]:
    return list({dataset.id: dataset for dataset in datasets}.values())


@contextmanager
def _workdir(workspace: Workspace) -> Iterator[Path]:
    parent = workspace.root / "work"
    parent.mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="replay-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _name(dataset: LocalDataset) -> str:
    return str(dataset.alias or dataset.id)
