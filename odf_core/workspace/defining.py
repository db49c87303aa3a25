"""Transformations that are defined in a workspace: how their inputs look there, and what they must not do."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from odf_core.chain import Projection
from odf_core.data import declared_schema, odf_schema_to_arrow
from odf_core.errors import InvalidInput
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.ingest.evolution_rules import EventRefused
from odf_core.metadata import ManifestPlace, SetTransform, StoredBlock, TransformSql
from odf_core.transform.define import (
    ChooseEngine,
    DefinedTransform,
    InputColumns,
    Look,
    define_transform,
    tables_of,
)
from odf_core.transform.derivation import Derivation
from odf_core.transform.errors import EngineNotInstalled, TransformInputsChanged
from odf_core.transform.execute import vocabulary_of
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.lineage import upstream_of, workspace_nodes
from odf_core.workspace.state import current_state

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace


@dataclass(slots=True)
class KnownColumns:
    """What datasets look like: `known` first (those that are just being made), then the workspace's.

    A derivative that was never computed looks like the result of its query, if an engine can tell.
    """

    workspace: "Workspace"
    choose: ChooseEngine
    known: dict[DatasetId, InputColumns | None] = field(default_factory=dict)

    def __call__(self, dataset_id: DatasetId) -> InputColumns | None:
        """As `Look`. Raises what reading a chain raises."""
        if dataset_id not in self.known:
            self.known[dataset_id] = None  # so that a circle of others' making ends
            found = self.workspace.find_dataset(dataset_id)
            self.known[dataset_id] = None if found is None else self._of(current_state(found.folder))
        return self.known[dataset_id]

    def _of(self, state: Projection) -> InputColumns | None:
        schema = declared_schema(state.schema)
        if schema is not None:
            return InputColumns(odf_schema_to_arrow(schema), state.vocabulary)
        if state.transform is None:
            return None
        try:
            return define_transform(state.transform, self, self.choose, vocabulary=state.vocabulary).columns
        except InvalidInput:
            return None  # another dataset's query is not what is defined here; its pull tells what is wrong


@dataclass(slots=True)
class Defining:
    """Transformations of datasets that are being made, each after those that it reads."""

    workspace: "Workspace"
    choose: ChooseEngine
    _look: KnownColumns = field(init=False)

    def __post_init__(self) -> None:
        self._look = KnownColumns(self.workspace, self.choose)

    def of_blocks(
        self, place: ManifestPlace, blocks: Sequence[StoredBlock]
    ) -> tuple[dict[int, str | None], tuple[str, ...]]:
        """The versions to pin, by the number of the event in the manifest at `place` of which a dataset's
        `blocks` are made, and sentences for whoever wrote it. Raises as `define_transform`, with file and
        line.
        """
        state = Projection.of(blocks)
        declared = declared_schema(state.schema)
        columns = None if declared is None else InputColumns(odf_schema_to_arrow(declared), state.vocabulary)
        versions: dict[int, str | None] = {}
        notes: tuple[str, ...] = ()
        for number, block in enumerate(blocks[1:]):
            event = block.block.event
            if not isinstance(event, SetTransform):
                continue
            with place.telling_of(("content", "metadata", number)):
                defined = define_transform(
                    event, self._look, self.choose, vocabulary=state.vocabulary, declared=declared
                )
            versions[number], notes = defined.event.transform.version, defined.notes
            columns = columns or defined.columns
        if state.seed is not None:
            self._look.known[state.seed.dataset_id] = columns
        return versions, notes


def accepting(
    workspace: "Workspace", dataset: LocalDataset, choose: ChooseEngine
) -> Callable[[SetTransform, Projection], DefinedTransform]:
    """What `odf_core.ingest.evolution` asks before a SetTransform follows in the chain of `dataset`.

    It raises as `define_transform`, and `EventRefused` for a dataset that would read itself,
    `TransformInputsChanged`, `QueryNotMigratable`.
    """
    look = KnownColumns(workspace, choose)

    def accept(event: SetTransform, at: Projection) -> DefinedTransform:
        _check_circle(workspace, dataset, event)
        present = at.transform
        if present is not None and _says_the_same(event, present):
            return DefinedTransform(present, None)
        _check_inputs(event, at)
        defined = define_transform(
            event, look, choose, vocabulary=at.vocabulary, declared=declared_schema(at.schema)
        )
        if at.last_query is not None:
            _check_migration(dataset, defined, at, look, choose)
        return defined

    return accept


def _says_the_same(event: SetTransform, present: SetTransform) -> bool:
    """Whether the event, which may leave the engine's version open, is the present one."""
    if event.transform.version is not None:
        return event == present
    return event == replace(present, transform=replace(present.transform, version=None))


def _check_circle(workspace: "Workspace", dataset: LocalDataset, event: SetTransform) -> None:
    nodes = workspace_nodes(workspace)
    for number, item in enumerate(event.inputs):
        ref = item.dataset_ref
        if isinstance(ref, DatasetId) and dataset.id in upstream_of(nodes, [ref]):
            way = "itself" if ref == dataset.id else f"{nodes[ref].name}, which is computed from it"
            raise EventRefused(
                f"{dataset.alias} would read {way}; datasets cannot be computed in a circle.",
                objects=[dataset.id, ref],
                extras={"place": ["inputs", number, "datasetRef"]},
            )


def _check_inputs(event: SetTransform, at: Projection) -> None:
    if at.last_query is None:
        return
    read = [item.dataset_id for item in at.last_query.query_inputs]
    if read != [item.dataset_ref for item in event.inputs]:
        raise TransformInputsChanged(
            "The dataset has been computed from other inputs, or from these in another order; keep them, or "
            "make a new dataset for a query over others.",
            objects=read,
            extras={"place": ["inputs"]},
        )


def _check_migration(
    dataset: LocalDataset, defined: DefinedTransform, at: Projection, look: Look, choose: ChooseEngine
) -> None:
    """Tries what the next step will do with what the steps so far have left."""
    old = Derivation.of(list(dataset.folder.walk())[::-1]).evaluated
    new = defined.event.transform
    if old is None or old == new or defined.columns is None:
        return
    try:
        _migrate(dataset, old, defined, at, look, choose)
    except InvalidInput as error:
        if not isinstance(error, EngineNotInstalled):
            error.extras["place"] = ["transform"]
        raise


def _migrate(
    dataset: LocalDataset,
    old: TransformSql,
    defined: DefinedTransform,
    at: Projection,
    look: Look,
    choose: ChooseEngine,
) -> None:
    tables, _ = tables_of(defined.event, look)
    known = at.last_checkpoint
    checkpoint = None
    if known is not None:
        ref = ObjectRef(ObjectKind.CHECKPOINT, known.physical_hash, known.size)
        checkpoint = dataset.folder.object_path(ref)
    with tempfile.TemporaryDirectory(prefix="odf-migration-") as folder:
        new = defined.event.transform
        choose(new).migrate(
            old, new, tables, vocabulary_of(at.vocabulary), checkpoint, Path(folder) / "checkpoint"
        )
