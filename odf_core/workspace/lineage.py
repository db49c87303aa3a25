"""Which datasets a dataset is computed from, and which are computed from it, as far as a workspace knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odf_core.identity import DatasetId
from odf_core.metadata import DatasetKind
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.state import current_state

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A dataset of a lineage. One that is not here has no kind, and is called as its reader calls it."""

    id: DatasetId
    name: str
    kind: DatasetKind | None
    is_local: bool
    inputs: tuple[DatasetId, ...] = ()


@dataclass(frozen=True, slots=True)
class Lineage:
    """All that is upstream and downstream of `root`; nodes by id, `root` among them.

    `readers` has for each dataset those of the workspace that read it directly, in the order of names.
    Of a dataset downstream, inputs that `root` has nothing to do with are nodes too, but not what is
    upstream of them.
    """

    root: DatasetId
    nodes: Mapping[DatasetId, LineageNode]
    readers: Mapping[DatasetId, tuple[DatasetId, ...]]

    def upstream(self) -> list[DatasetId]:
        """All that the root depends on, nearest first, each once."""
        return _reached(self.root, {key: node.inputs for key, node in self.nodes.items()})

    def downstream(self) -> list[DatasetId]:
        """All that depends on the root, nearest first, each once."""
        return _reached(self.root, self.readers)

    def edges(self) -> list[tuple[DatasetId, DatasetId]]:
        """(input, reader), of all nodes."""
        return [(item, node.id) for node in self.nodes.values() for item in node.inputs]


def workspace_nodes(workspace: "Workspace") -> dict[DatasetId, LineageNode]:
    """Every dataset of the workspace and every input of one. Raises what reading chains raises."""
    nodes: dict[DatasetId, LineageNode] = {}
    named: dict[DatasetId, str] = {}
    for dataset in workspace.datasets():
        node, aliases = _node(dataset)
        nodes[node.id] = node
        named |= aliases
    missing = {key: LineageNode(key, name, None, False) for key, name in named.items() if key not in nodes}
    return nodes | missing


def lineage_of(workspace: "Workspace", dataset: LocalDataset) -> Lineage:
    """The lineage of a dataset of the workspace. Raises what reading chains raises."""
    every = workspace_nodes(workspace)
    readers: dict[DatasetId, list[DatasetId]] = {}
    for node in every.values():
        for item in node.inputs:
            readers.setdefault(item, []).append(node.id)
    down = [dataset.id, *_reached(dataset.id, readers)]
    up = _reached(dataset.id, {key: node.inputs for key, node in every.items()})
    beside = [item for key in down for item in every[key].inputs]
    kept = dict.fromkeys([*down, *up, *beside])
    inside = frozenset([*down, *up])
    nodes = {key: _cut(every[key], key in inside) for key in kept}
    found = {key: tuple(item for item in readers.get(key, ()) if item in inside) for key in kept}
    return Lineage(dataset.id, nodes, found)


def upstream_of(nodes: Mapping[DatasetId, LineageNode], ids: Iterable[DatasetId]) -> set[DatasetId]:
    """`ids` and all that they are computed from."""
    found: set[DatasetId] = set()
    for item in ids:
        if item not in found:
            found |= {item, *_reached(item, {key: node.inputs for key, node in nodes.items()})}
    return found


def _cut(node: LineageNode, is_inside: bool) -> LineageNode:
    if is_inside:
        return node
    return LineageNode(node.id, node.name, node.kind, node.is_local)


def _node(dataset: LocalDataset) -> tuple[LineageNode, dict[DatasetId, str]]:
    """The dataset, and what it calls its inputs."""
    state = current_state(dataset.folder)
    inputs = {
        item.dataset_ref: item.alias or str(item.dataset_ref)
        for item in (state.transform.inputs if state.transform is not None else ())
        if isinstance(item.dataset_ref, DatasetId)
    }
    kind = state.seed.dataset_kind if state.seed is not None else None
    name = str(dataset.alias or dataset.id)
    return LineageNode(dataset.id, name, kind, True, tuple(inputs)), inputs


def _reached(start: DatasetId, edges: Mapping[DatasetId, Iterable[DatasetId]]) -> list[DatasetId]:
    """All that can be reached from `start`, without it, nearest first; a circle ends where it closes."""
    found: dict[DatasetId, None] = {}
    layer = [start]
    while layer:
        following = dict.fromkeys(item for key in layer for item in edges.get(key, ()))
        layer = [item for item in following if item not in found and item != start]
        found |= dict.fromkeys(layer)
    return list(found)
