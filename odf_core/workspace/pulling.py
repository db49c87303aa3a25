"""In which order datasets are brought up to date: each once, after all that it is computed from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar

from odf_core.errors import InvalidInput
from odf_core.identity import DatasetId


class DatasetsInCircle(InvalidInput):
    """Datasets are computed from each other, so none of them can come first."""

    code: ClassVar[str] = "datasets_in_circle"


class Way(StrEnum):
    """How a dataset is brought up to date."""

    TRANSFORM = "Transform"
    POLL = "Poll"
    REMOTE = "Remote"
    MISSING = "Missing"
    """It is not here: looked for in the repositories by its id."""
    NONE = "None"
    """Records are pushed into it."""


@dataclass(frozen=True, slots=True)
class PullNode:
    """A dataset, and what it is computed from."""

    id: DatasetId
    name: str
    way: Way
    inputs: tuple[DatasetId, ...] = ()


def pull_order(
    nodes: Mapping[DatasetId, PullNode], wanted: Iterable[DatasetId], *, recursive: bool
) -> list[PullNode]:
    """The datasets to bring up to date: `wanted`, and with `recursive` all upstream of them. Among those
    that do not depend on each other the order of `wanted` and of inputs is kept.

    Raises `DatasetsInCircle`.
    """
    asked = list(dict.fromkeys(wanted))
    graph = {key: nodes[key].inputs for key in _closure(nodes, asked)}
    try:
        ordered = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = [nodes[key] for key in error.args[1][1:]]
        raise DatasetsInCircle(
            f"Datasets are computed from each other in a circle: {', '.join(node.name for node in circle)}; "
            "change the inputs of one of them (`odf commit`), or delete it.",
            objects=[node.id for node in circle],
        ) from error
    chosen = frozenset(graph if recursive else asked)
    return [nodes[key] for key in ordered if key in chosen]


def missing_inputs(nodes: Mapping[DatasetId, PullNode], wanted: Iterable[DatasetId]) -> list[PullNode]:
    """What is not here of all upstream of `wanted`."""
    return [nodes[key] for key in _closure(nodes, wanted) if nodes[key].way is Way.MISSING]


def _closure(nodes: Mapping[DatasetId, PullNode], wanted: Iterable[DatasetId]) -> Sequence[DatasetId]:
    """`wanted` and all upstream, inputs before their readers where that can be had by walking down."""
    found: dict[DatasetId, None] = {}
    left = list(reversed(list(wanted)))
    while left:
        key = left.pop()
        if key not in found:
            found[key] = None
            left += reversed(nodes[key].inputs)
    return list(found)
