"""Datasets of a workspace brought up to date, each in its way: `odf pull` of what is here already."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from odf_core.errors import NotFound, OdfError
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import DatasetKind
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import LocalDatasetNotFound, NoAliasToPull
from odf_core.workspace.lineage import LineageNode, workspace_nodes
from odf_core.workspace.pulling import PullNode, Way, missing_inputs, pull_order
from odf_core.workspace.state import current_state, nowhere_to_pull
from odf_core.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Updated:
    """What became of one dataset. `why` says why nothing was done, or what to know; with an `error` some
    blocks may have come before it."""

    node: PullNode
    old_head: Multihash | None
    new_head: Multihash | None
    num_blocks: int = 0
    num_records: int | None = None
    late_rows: int = 0
    why: str | None = None
    error: OdfError | None = None

    @property
    def is_updated(self) -> bool:
        """Whether there are new blocks."""
        return self.old_head != self.new_head


class Watch(Protocol):
    """Is told how far an update is."""

    def begin(self, node: PullNode, number: int, count: int) -> None:
        """`number` (from 1) of `count` begins."""

    def end(self, done: Updated) -> None:
        """It is over."""


@dataclass(frozen=True, slots=True)
class Means:
    """How each way is gone: the dataset (or the reference) in, what came of it out; each raises what it
    raises. They are called when they are needed, so that engines start for what needs them."""

    transform: Callable[[PullNode], Updated]
    poll: Callable[[PullNode], Updated]
    pull: Callable[[PullNode, str], Updated]


@dataclass(slots=True)
class Updates:
    """Updates of `workspace` by `means`."""

    workspace: Workspace
    means: Means
    watch: Watch
    _done: dict[DatasetId, Updated] = field(default_factory=dict)
    _stuck: set[DatasetId] = field(default_factory=set)
    _asked: frozenset[DatasetId] = frozenset()

    def run(self, wanted: Sequence[LocalDataset], *, recursive: bool) -> list[Updated]:
        """Bring `wanted` up to date, with `recursive` after all that is upstream of them: datasets that are
        missing come from the registered repositories, by id.

        One dataset's error stands in its `Updated`; those that depend on it are left as they are. Raises
        `DatasetsInCircle`.
        """
        ids = [item.id for item in wanted]
        self._asked = frozenset(ids)
        if recursive:
            self._fetch_missing(ids)
        order = pull_order(pull_nodes(self.workspace), ids, recursive=recursive)
        left = [node for node in order if node.id not in self._done]
        self._each(left, self._update)
        return list(self._done.values())

    def _each(self, nodes: Sequence[PullNode], act: Callable[[PullNode], Updated]) -> None:
        for number, node in enumerate(nodes, 1):
            self.watch.begin(node, number, len(nodes))
            done = self._done[node.id] = act(node)
            if done.error is not None:
                self._stuck.add(node.id)
            self.watch.end(done)

    def _fetch_missing(self, ids: Sequence[DatasetId]) -> None:
        """Until nothing new turns out to be missing: what is fetched may be computed from others."""
        while True:
            nodes = pull_nodes(self.workspace)
            missing = [node for node in missing_inputs(nodes, ids) if node.id not in self._done]
            if not missing:
                return
            self._each(missing, partial(self._fetched, needed=_needed(nodes)))

    def _fetched(self, node: PullNode, needed: frozenset[DatasetId]) -> Updated:
        """What is pulled from elsewhere does not need its inputs here; of these it is only told."""
        trouble: OdfError | None = None
        for repo in self.workspace.repos:
            try:
                return self.means.pull(node, f"{repo}/{node.id}")
            except NotFound:
                continue
            except OdfError as error:  # another repository may have it
                trouble = trouble or error
        if trouble is not None:
            return Updated(node, None, None, error=trouble)
        repos = ", ".join(str(repo) for repo in self.workspace.repos)
        where = f"none of the repositories ({repos}) has it" if repos else "no repository is registered"
        if node.id not in needed:
            return Updated(node, None, None, why=f"{where}, and what reads it is pulled as it is")
        missing = LocalDatasetNotFound(
            f"Input {node.name} ({node.id}) is not in the workspace, and {where}; pull it by its address, or "
            "register the repository that has it (`odf repo add`).",
            objects=[node.id],
        )
        return Updated(node, None, None, error=missing)

    def _update(self, node: PullNode) -> Updated:
        head = self._head(node.id)
        stuck = [key for key in node.inputs if key in self._stuck]
        if stuck and node.way is Way.TRANSFORM:
            self._stuck.add(node.id)
            names = ", ".join(self._done[key].node.name for key in stuck)
            return Updated(node, head, head, why=f"{names} could not be brought up to date")
        try:
            return self._gone(node)
        except OdfError as error:
            return Updated(node, head, self._head(node.id), error=error)

    def _gone(self, node: PullNode) -> Updated:
        match node.way:
            case Way.TRANSFORM:
                return self.means.transform(node)
            case Way.POLL:
                return self.means.poll(node)
            case Way.REMOTE:
                return self.means.pull(node, str(node.id))
        return self._nothing(node)

    def _nothing(self, node: PullNode) -> Updated:
        dataset, head = self.workspace.dataset(node.id), self._head(node.id)
        if current_state(dataset.folder).push_sources:
            return Updated(
                node, head, head, why=f"records are pushed into it (`odf ingest {node.name} FILE`)"
            )
        if node.id not in self._asked:  # its readers can go on with what is here
            return Updated(node, head, head, why="nothing is known that it could be pulled from")
        raise NoAliasToPull(nowhere_to_pull(dataset), objects=[node.id])

    def _head(self, dataset_id: DatasetId) -> Multihash | None:
        found = self.workspace.find_dataset(dataset_id)
        return found.head if found is not None else None


def _needed(nodes: Mapping[DatasetId, PullNode]) -> frozenset[DatasetId]:
    """What datasets are computed from here."""
    return frozenset(key for node in nodes.values() if node.way is Way.TRANSFORM for key in node.inputs)


def pull_nodes(workspace: Workspace) -> dict[DatasetId, PullNode]:
    """Every dataset of the workspace, and every input that it lacks. Raises what reading chains raises."""
    return {key: _node(workspace, node) for key, node in workspace_nodes(workspace).items()}


def way_of(dataset: LocalDataset) -> Way:
    """How the dataset is brought up to date."""
    if dataset.remotes.pull:
        return Way.REMOTE
    state = current_state(dataset.folder)
    if state.seed is not None and state.seed.dataset_kind is DatasetKind.DERIVATIVE:
        return Way.TRANSFORM
    return Way.POLL if state.polling_source is not None else Way.NONE


def _node(workspace: Workspace, node: LineageNode) -> PullNode:
    way = way_of(workspace.dataset(node.id)) if node.is_local else Way.MISSING
    return PullNode(node.id, node.name, way, node.inputs)


def datasets_to_update(workspace: Workspace) -> Iterator[LocalDataset]:
    """Every dataset that is polled, pulled or computed: those of `odf pull --all`."""
    return (item for item in workspace.datasets() if way_of(item) is not Way.NONE)
