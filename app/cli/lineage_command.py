"""`odf lineage`: what a dataset is computed from, and what is computed from it."""

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from odf_core.identity import DatasetId
    from odf_core.workspace.lineage import Lineage, LineageNode


class LineageFormat(StrEnum):
    """Forms of a lineage."""

    TREE = "tree"
    JSON = "json"
    DOT = "dot"


def lineage(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Name or id of a dataset of the workspace.")
    ],
    output: Annotated[
        LineageFormat,
        typer.Option("--output-format", "--output", "-o", help="Form of the output.", show_default=True),
    ] = LineageFormat.TREE,
) -> None:
    """Show what a dataset is computed from, and what is computed from it, as far as the workspace knows."""
    from app.cli.output import write_json
    from app.cli.session import find_workspace
    from odf_core.workspace.lineage import lineage_of

    workspace = find_workspace()
    found = lineage_of(workspace, workspace.dataset(reference))
    match output:
        case LineageFormat.JSON:
            write_json(_facts(found))
        case LineageFormat.DOT:
            sys.stdout.write("\n".join(_dot(found)) + "\n")
        case LineageFormat.TREE:
            sys.stdout.write("\n".join(_tree(found)) + "\n")


def _facts(found: "Lineage") -> dict[str, Any]:
    return {
        "dataset": found.nodes[found.root].name,
        "datasetId": str(found.root),
        "upstream": [str(item) for item in found.upstream()],
        "downstream": [str(item) for item in found.downstream()],
        "datasets": [
            {
                "id": str(node.id),
                "name": node.name,
                "kind": _kind(node),
                "isLocal": node.is_local,
                "inputs": [str(item) for item in node.inputs],
            }
            for node in found.nodes.values()
        ],
    }


def _kind(node: "LineageNode") -> str | None:
    return node.kind.name.capitalize() if node.kind is not None else None


def _shown(node: "LineageNode") -> str:
    what = (_kind(node) or "").lower() if node.is_local else f"not here: {node.id}"
    return f"{_printable(node.name)} ({what})"


def _printable(text: str) -> str:
    """A stranger's alias, without what could steer a terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def _tree(found: "Lineage") -> Iterator[str]:
    """The dataset, its inputs below it, and after that its readers; what was shown once with branches is
    shown again without."""
    root = found.nodes[found.root]
    yield _shown(root)
    yield from _branches(found, root.inputs, {key: node.inputs for key, node in found.nodes.items()}, "")
    readers = found.readers[found.root]
    if readers:
        yield "read by"
        yield from _branches(found, readers, found.readers, "")


def _branches(found: "Lineage", items: "Sequence[DatasetId]", edges: Any, indent: str) -> Iterator[str]:
    """Depth first, without recursion: chains may be longer than the stack."""
    seen: set[Any] = set()
    left = [(item, indent, number == len(items)) for number, item in enumerate(items, 1)][::-1]
    while left:
        key, before, is_last = left.pop()
        below = edges.get(key, ())
        again = " …" if key in seen and below else ""
        yield f"{before}{'└── ' if is_last else '├── '}{_shown(found.nodes[key])}{again}"
        if key not in seen:
            seen.add(key)
            inner = before + ("    " if is_last else "│   ")
            left += [(item, inner, number == len(below)) for number, item in enumerate(below, 1)][::-1]


def _dot(found: "Lineage") -> Iterator[str]:
    """A graph for Graphviz; arrows go from an input to its reader."""
    yield "digraph lineage {"
    yield "  rankdir=LR;"
    for node in found.nodes.values():
        style = "" if node.is_local else ", style=dashed"
        shape = "box" if _kind(node) == "Root" else "ellipse"
        weight = ", penwidth=2" if node.id == found.root else ""
        yield f"  {_quoted(str(node.id))} [label={_quoted(node.name)}, shape={shape}{style}{weight}];"
    for source, reader in found.edges():
        yield f"  {_quoted(str(source))} -> {_quoted(str(reader))};"
    yield "}"


def _quoted(text: str) -> str:
    escaped = _printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
