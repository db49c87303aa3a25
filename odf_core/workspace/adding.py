"""New datasets from snapshots (metadata.md 5): all of one call, or none."""

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from odf_core.chain.snapshots import snapshot_chain
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.metadata import (
    DatasetKind,
    DatasetSnapshot,
    InvalidSnapshot,
    MetadataEvent,
    PlacedSnapshot,
    Seed,
    SetTransform,
    StoredBlock,
    Timestamp,
)
from odf_core.workspace.creation import PreparedBlocks, prepare_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.deletion import all_locked
from odf_core.workspace.errors import DatasetInUse, LocalDatasetExists
from odf_core.workspace.state import dependants, names_of
from odf_core.workspace.workspace import remove_files

if TYPE_CHECKING:
    from odf_core.ingest.trial import Trial
    from odf_core.transform.define import ChooseEngine
    from odf_core.workspace.workspace import Workspace


def new_dataset_id() -> DatasetId:
    """An identifier of a new key pair; the private key is not kept, for nothing is signed with it."""
    made, _ = DatasetId.generate()
    return made


@dataclass(frozen=True, slots=True)
class Added:
    """A dataset that was made; `replaced` is the id of the one that had its name, `notes` are sentences
    about its transformation."""

    dataset: LocalDataset
    snapshot: DatasetSnapshot
    num_blocks: int
    replaced: DatasetId | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    placed: PlacedSnapshot
    id: DatasetId
    old: LocalDataset | None
    blocks: Sequence[StoredBlock] = ()
    dataset: LocalDataset | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> DatasetAlias:
        return self.placed.snapshot.name


def add_snapshots(
    workspace: "Workspace",
    snapshots: Iterable[PlacedSnapshot],
    system_time: Timestamp,
    *,
    replace_existing: bool = False,
    new_id: Callable[[], DatasetId] = new_dataset_id,
    trial: "Trial | None" = None,
    choose: "ChooseEngine | None" = None,
) -> list[Added]:
    """Make a dataset of each snapshot, in any order: one may read what another one makes.

    With `replace_existing` a dataset that has the name of a new one is deleted, and the new one is another
    dataset with an id of its own. With `choose` transformations are tried by their engines and pinned to
    them. Raises `LocalDatasetExists`, `DatasetInUse`, and with file and line `InvalidSnapshot`,
    `MissingInputs`, what `check_sources` and `define_transform` raise; nothing is added then.
    """
    plans = [_Plan(item, new_id(), workspace.find_dataset(item.snapshot.name)) for item in snapshots]
    by_name = _by_name(plans)
    _check_existing(workspace, plans, replace_existing)
    ordered = _inputs_first(by_name)
    for plan in plans:
        plan.blocks = _blocks(plan, by_name, workspace, system_time)
        _check_sources(plan.placed, trial)
    if choose is not None and any(True for plan in plans for _ in _inputs(plan)):
        _define(ordered, by_name, workspace, system_time, choose)
    _write(workspace, plans)
    return [
        Added(
            plan.dataset,
            plan.placed.snapshot,
            len(plan.blocks),
            plan.old.id if plan.old else None,
            plan.notes,
        )
        for plan in plans
        if plan.dataset is not None
    ]


def renamed(snapshots: Sequence[PlacedSnapshot], name: DatasetAlias) -> list[PlacedSnapshot]:
    """The only snapshot under another name. Raises `InvalidSnapshot` where there are several."""
    if len(snapshots) != 1:
        raise InvalidSnapshot(f"One name cannot be given to {len(snapshots)} datasets; add them one by one.")
    return [replace(item, snapshot=replace(item.snapshot, name=name)) for item in snapshots]


def _by_name(plans: Sequence[_Plan]) -> dict[DatasetAlias, _Plan]:
    found: dict[DatasetAlias, _Plan] = {}
    for plan in plans:
        if plan.name in found:
            other = found[plan.name].placed.place.source
            raise plan.placed.place.told(
                InvalidSnapshot(
                    f"A dataset {plan.name} is in {other} already; one call makes one dataset of a name.",
                    objects=[plan.name],
                ),
                ("content", "name"),
            )
        found[plan.name] = plan
    return found


def _check_existing(workspace: "Workspace", plans: Sequence[_Plan], replace_existing: bool) -> None:
    taken = [plan.old for plan in plans if plan.old is not None]
    if not taken:
        return
    if not replace_existing:
        raise LocalDatasetExists(
            f"The workspace has {names_of(taken)} already; choose another name, or replace by `--replace`. "
            "Nothing was added.",
            objects=[item.id for item in taken],
        )
    ids = [item.id for item in taken]
    users = dependants(workspace, ids, but=ids)
    if users:
        raise DatasetInUse(
            f"{names_of(users)} read what would be replaced ({names_of(taken)}), and would lose their "
            "inputs: a dataset that replaces another has an id of its own. Replace them in the same call, "
            "or delete them first.",
            objects=[item.id for item in users],
        )


def _inputs(plan: _Plan) -> Iterable[DatasetId | DatasetAlias]:
    for event in plan.placed.snapshot.metadata:
        if isinstance(event, SetTransform):
            yield from (item.dataset_ref for item in event.inputs)


def _inputs_first(plans: Mapping[DatasetAlias, _Plan]) -> list[_Plan]:
    """Datasets of one call may read each other, but not in a circle: in an order in which each follows what
    it reads."""
    ordered: list[_Plan] = []
    left = {
        name: {ref for ref in _inputs(plan) if isinstance(ref, DatasetAlias) and ref in plans}
        for name, plan in plans.items()
    }
    while left:
        ready = {name for name, needs in left.items() if not needs & left.keys()}
        if not ready:
            names = ", ".join(sorted(str(name) for name in left))
            first = plans[next(iter(left))].placed
            kinds = [isinstance(event, SetTransform) for event in first.snapshot.metadata]
            raise first.place.told(
                InvalidSnapshot(f"Datasets are inputs of each other, in a circle: {names}.", objects=left),
                ("content", "metadata", kinds.index(True), "inputs"),
            )
        ordered += [plan for name, plan in plans.items() if name in ready]
        left = {name: needs for name, needs in left.items() if name not in ready}
    return ordered


def _define(
    ordered: Sequence[_Plan],
    plans: Mapping[DatasetAlias, _Plan],
    workspace: "Workspace",
    system_time: Timestamp,
    choose: "ChooseEngine",
) -> None:
    """Has transformations tried and pinned; the blocks of their datasets are made anew with that."""
    from odf_core.workspace.defining import Defining  # it brings Arrow and the engines along

    defining = Defining(workspace, choose)
    for plan in ordered:
        versions, notes = defining.of_blocks(plan.placed.place, plan.blocks)
        plan.notes = notes
        if versions:
            snapshot = plan.placed.snapshot
            events = [_pinned(event, versions.get(number)) for number, event in enumerate(snapshot.metadata)]
            plan.placed = replace(plan.placed, snapshot=replace(snapshot, metadata=tuple(events)))
            plan.blocks = _blocks(plan, plans, workspace, system_time)


def _pinned(event: MetadataEvent, version: str | None) -> MetadataEvent:
    if not isinstance(event, SetTransform) or version is None:
        return event
    return replace(event, transform=replace(event.transform, version=version))


def _blocks(
    plan: _Plan,
    plans: Mapping[DatasetAlias, _Plan],
    workspace: "Workspace",
    system_time: Timestamp,
) -> list[StoredBlock]:
    """The blocks of a plan; inputs are looked for in the same call first."""

    def resolve(ref: DatasetId | DatasetAlias) -> DatasetId | None:
        if isinstance(ref, DatasetAlias) and ref in plans:
            return plans[ref].id
        found = workspace.find_dataset(ref)
        return found.id if found is not None else None

    return snapshot_chain(plan.placed, plan.id, system_time, resolve)


def _check_sources(placed: PlacedSnapshot, trial: "Trial | None") -> None:
    if placed.snapshot.kind is DatasetKind.ROOT:
        from odf_core.ingest.snapshot_check import check_sources  # it brings Arrow along

        check_sources(placed, trial)


def _write(workspace: "Workspace", plans: Sequence[_Plan]) -> None:
    """Everything to the disk, then the heads; what was begun is removed where something fails."""
    replaced = [plan.old for plan in plans if plan.old is not None]
    with all_locked(replaced):
        _write_new(workspace, plans)
        for item in replaced:
            remove_files(item)


def _write_new(workspace: "Workspace", plans: Sequence[_Plan]) -> None:
    prepared: list[PreparedBlocks] = []
    try:
        for plan in plans:
            seed = plan.blocks[0].block.event
            assert isinstance(seed, Seed)
            plan.dataset = workspace.place(plan.name, seed, instead_of=plan.old)
            prepared.append(prepare_blocks(plan.dataset.folder, plan.blocks, None))
        for item in prepared:
            item.commit()
    except BaseException:
        for plan in plans:
            if plan.dataset is not None:
                shutil.rmtree(plan.dataset.path, ignore_errors=True)
        raise
