"""Derivative datasets of a workspace: brought up to date with their inputs, a step at a time (data.md 4)."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from odf_core.identity import DatasetAlias, DatasetId, Multihash, ObjectRef
from odf_core.metadata import StoredBlock, Timestamp
from odf_core.transform.chains import InputChain
from odf_core.transform.commit import commit_of
from odf_core.transform.define import ChooseEngine
from odf_core.transform.derivation import Derivation
from odf_core.transform.errors import TransformNotDefined
from odf_core.transform.execute import Target, execute_step
from odf_core.transform.plan import plan_next
from odf_core.transform.port import Say
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.equivalence import choose_equivalent
from odf_core.workspace.errors import LocalDatasetNotFound
from odf_core.workspace.workspace import Workspace

__all__ = ["ChooseEngine", "Transformed", "Transforms"]

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Transformed:
    """What bringing a derivative dataset up to date came to; no new blocks: it was up to date."""

    dataset: LocalDataset
    old_head: Multihash | None
    new_head: Multihash | None
    num_blocks: int = 0
    num_records: int = 0
    late_rows: int = 0

    @property
    def is_updated(self) -> bool:
        """Whether there are new blocks."""
        return self.old_head != self.new_head


@dataclass(slots=True)
class Transforms:
    """Steps by the engines that `choose` gives; `now` is read once for each step, for its system time."""

    workspace: Workspace
    choose: ChooseEngine
    now: Callable[[], Timestamp] = Timestamp.now
    say: Say = field(default=lambda word: None)

    def update(self, reference: str | DatasetId | DatasetAlias) -> Transformed:
        """Evaluate the query over what is new in the inputs, in as many steps as it takes.

        Raises `LocalDatasetNotFound` for the dataset or an input, `TransformNotDefined`, `InputDiverged`,
        `TransformInputsChanged`, what the engine raises, `IncompatibleResult`, `DatasetBusy`. What was
        committed before an error stays.
        """
        dataset = self.workspace.dataset(reference)
        with dataset.lock(patience=_PATIENCE_SECONDS):
            derivation = Derivation.of(_blocks(dataset))
            old_head, blocks, records, late = dataset.head, 0, 0, 0
            inputs = self._inputs(dataset, derivation)
            chains = [_chain(item) for item in inputs]
            places = {item.id: item.folder for item in (*inputs, dataset)}

            def locate(dataset_id: DatasetId, ref: ObjectRef) -> Path:
                return places[dataset_id].object_path(ref)

            choose = choose_equivalent(self.choose, self.workspace.root, dataset.id)
            while True:
                step = plan_next(derivation.state, chains, changed_since=derivation.changed_since)
                if step is None:
                    break
                system_time = self.now()
                target = Target(dataset.id, _name(dataset))
                with self._workdir(dataset) as workdir:
                    engine = choose(step.transform)
                    executed = execute_step(step, target, engine, system_time, locate, workdir, self.say)
                    commit = commit_of(executed, system_time)
                    if commit is None:
                        break
                    append_blocks(dataset.folder, commit.blocks, commit.objects)
                for block in commit.blocks:
                    derivation.feed(block)
                blocks, records = blocks + len(commit.blocks), records + commit.num_records
                late += executed.done.late_rows
            return Transformed(dataset, old_head, dataset.head, blocks, records, late)

    def _inputs(self, dataset: LocalDataset, derivation: Derivation) -> list[LocalDataset]:
        event = derivation.state.transform
        if event is None:
            raise TransformNotDefined(
                f"{dataset.alias} has no transformation: it is not computed from other datasets.",
                objects=[dataset.id],
            )
        found = [(item, self.workspace.find_dataset(item.dataset_ref)) for item in event.inputs]
        missing = [item for item, local in found if local is None]
        if missing:
            names = ", ".join(f"{item.alias} ({item.dataset_ref})" for item in missing)
            raise LocalDatasetNotFound(
                f"{dataset.alias} is computed from datasets that are not in the workspace: {names}. Pull "
                f"them, or `odf pull {dataset.alias} --recursive` where a registered repository has them.",
                objects=[item.dataset_ref for item in missing],
            )
        return [local for _, local in found if local is not None]

    @contextmanager
    def _workdir(self, dataset: LocalDataset) -> Iterator[Path]:
        """A folder inside the workspace, so that new slices need not cross file systems. The dataset's lock
        is held, so what is found there is of a run that was killed."""
        path = self.workspace.root / "work" / f"transform-{dataset.id.multibase}"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def _blocks(dataset: LocalDataset) -> list[StoredBlock]:
    return list(dataset.folder.walk())[::-1] if dataset.head is not None else []


def _chain(dataset: LocalDataset) -> InputChain:
    return InputChain(dataset.id, _name(dataset), _blocks(dataset))


def _name(dataset: LocalDataset) -> str:
    return str(dataset.alias or dataset.id)
