"""`odf add` and `odf new`: datasets from manifests."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

if TYPE_CHECKING:
    from odf_core.ingest.merge_job import MergeJob
    from odf_core.metadata import TransformSql
    from odf_core.transform.port import TransformEngine
    from odf_core.workspace.adding import Added


def add(
    manifests: Annotated[
        list[str],
        typer.Argument(
            metavar="MANIFEST...",
            help="Files in YAML or JSON, http(s) URLs, - for standard input, folders with --recursive.",
        ),
    ],
    from_url: Annotated[
        bool, typer.Option("--from-url", help="Every MANIFEST has to be an http(s) URL; no file is read.")
    ] = False,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Of a folder, all manifests of datasets below it.")
    ] = False,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the dataset, instead of the manifest's.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete datasets of these names first; new ids are given.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a replacement.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make datasets from manifests of the kind DatasetSnapshot: all of them, or none."""
    import sys

    from app.cli.session import find_workspace
    from odf_core.identity import DatasetAlias
    from odf_core.metadata import Timestamp
    from odf_core.workspace.adding import add_snapshots, renamed
    from odf_core.workspace.manifests import is_url, read_manifests

    if from_url and not all(is_url(item) for item in manifests):
        raise typer.BadParameter("with it, every MANIFEST is an http(s) URL", param_hint="--from-url")
    workspace = find_workspace()
    found = read_manifests(
        manifests,
        stdin=sys.stdin.buffer,
        fetch=fetch_manifest,
        recursive=recursive,
        limits=workspace.limits,
    )
    if name is not None:
        found = renamed(found, DatasetAlias.parse(name))
    taken = [workspace.find_dataset(item.snapshot.name) for item in found] if replace else []
    names = ", ".join(str(item.alias) for item in taken if item is not None)
    if names and not yes:
        typer.confirm(f"Delete {names} with all records, and begin anew?", abort=True, err=True)
    added = add_snapshots(
        workspace,
        found,
        Timestamp.now(),
        replace_existing=replace,
        trial=try_queries_lazily,
        choose=choose_lazily,
    )
    rows = [_facts(item) for item in added]
    if output is OutputFormat.TABLE:
        lines = []
        for row in rows:
            lines.append(f"{'Replaced' if row['replaced'] else 'Added'} {row['dataset']}")
            lines += [f"note: {note}" for note in row["notes"]]
        sys.stdout.write("\n".join([*lines, f"{len(rows)} dataset(s) added"]) + "\n")
    else:
        write_records(rows, output, columns=[])


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the dataset.")],
    root: Annotated[bool, typer.Option("--root", help="A dataset whose records come from outside.")] = False,
    derivative: Annotated[
        bool, typer.Option("--derivative", help="A dataset that is computed from others.")
    ] = False,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Where to write it; default: NAME.yaml.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Write a manifest to begin with; `odf add` makes a dataset from it."""
    from pathlib import Path

    from odf_core.identity import DatasetAlias
    from odf_core.metadata import DatasetKind
    from odf_core.workspace.templates import template

    if root == derivative:
        raise typer.BadParameter("say either --root or --derivative", param_hint="--root / --derivative")
    alias = DatasetAlias.parse(name)
    kind = DatasetKind.ROOT if root else DatasetKind.DERIVATIVE
    path = Path(file) if file is not None else Path(f"{alias.name}.yaml")
    try:
        with path.open("x", encoding="utf-8") as target:
            target.write(template(alias, kind))
    except FileExistsError as error:
        raise typer.BadParameter(f"there is a file {path} already", param_hint="NAME") from error
    write_record(
        {"file": str(path), "dataset": str(alias), "kind": kind.name.capitalize()},
        output,
        sentence=f"Wrote {path}; edit it, then run `odf add {path}`",
    )


def fetch_manifest(url: str, most_bytes: int) -> bytes:
    """The body of an http(s) URL, with little patience: somebody waits at a terminal."""
    from odf_core.transfer.client.http import Http
    from odf_core.transfer.client.options import TransferOptions
    from odf_core.workspace.errors import ManifestUnreadable

    def missing(address: str) -> ManifestUnreadable:
        return ManifestUnreadable(f"There is nothing at {address}.", objects=[address])

    with Http(TransferOptions(attempts=2, connect_timeout=10, read_timeout=30)) as http:
        return http.get_text(url, max_bytes=most_bytes, missing=missing)


def try_queries_lazily(job: "MergeJob") -> None:
    """`try_queries`, loaded for manifests that have queries to try."""
    from app.cli.engine import try_queries

    try_queries(job)


def choose_lazily(transform: "TransformSql") -> "TransformEngine":
    """`choose_engine`, loaded for manifests that have transformations."""
    from app.cli.engine import choose_engine

    return choose_engine(transform)


def _facts(added: "Added") -> dict[str, Any]:
    return {
        "dataset": str(added.dataset.alias),
        "datasetId": str(added.dataset.id),
        "kind": added.snapshot.kind.name.capitalize(),
        "numBlocks": added.num_blocks,
        "head": str(added.dataset.head),
        "replaced": str(added.replaced) if added.replaced is not None else None,
        "notes": list(added.notes),
    }
