"""`odf init`, `list`, `log`, `show` and `verify`: the datasets of a workspace."""

from typing import Annotated, Any

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

DatasetArgument = Annotated[str, typer.Argument(metavar="DATASET", help="Name or id of a dataset.")]


def register_dataset_commands(cli: typer.Typer) -> None:
    """Put the commands of this module on the command line."""
    cli.command("init")(init)
    cli.command("list")(list_datasets)
    cli.command("log")(log)
    cli.command("show")(show)
    cli.command("verify")(verify)


def init(
    folder: Annotated[str, typer.Argument(help="Where the workspace is to be.")] = ".",
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a workspace: a folder .odf that holds datasets."""
    from pathlib import Path

    from odf_core.workspace import Workspace

    path = Path(folder).absolute()
    path.mkdir(parents=True, exist_ok=True)
    workspace = Workspace.init(path)
    write_record({"workspace": str(workspace.root)}, output, sentence=f"Made a workspace in {path}")


def list_datasets(output: Output = OutputFormat.TABLE) -> None:
    """List the datasets of the workspace."""
    from app.cli.describe import summary
    from app.cli.session import find_workspace

    rows = [summary(dataset) for dataset in find_workspace().datasets()]
    write_records(rows, output, columns=["name", "kind", "blocks", "records", "updated", "head", "id"])


def log(
    dataset: DatasetArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Only the newest blocks; 0: all.")] = 0,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the blocks of a dataset, newest first."""
    import itertools

    from app.cli.describe import log_entry
    from app.cli.session import find_workspace

    blocks = find_workspace().dataset(dataset).folder.walk()
    rows = [log_entry(block) for block in itertools.islice(blocks, limit or None)]
    write_records(rows, output, columns=["number", "hash", "time", "kind", "summary"])


def show(
    dataset: DatasetArgument,
    block: Annotated[
        str | None,
        typer.Argument(
            metavar="[BLOCK]", help="A block, by hash, the end of its hash, or number: its manifest."
        ),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show what a dataset is now, or one of its blocks."""
    import sys

    from app.cli.describe import describe, find_block
    from app.cli.output import write_json
    from app.cli.session import find_workspace
    from odf_core.metadata import block_to_json, dump_yaml

    found = find_workspace().dataset(dataset)
    value: dict[str, Any] = (
        describe(found) if block is None else block_to_json(find_block(found.folder, block))
    )
    if output is OutputFormat.JSON:
        write_json(value)
    else:
        sys.stdout.write(dump_yaml(value))


def verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(metavar="[DATASET]...", help="Names or ids; default: all.")
    ] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Also everything that the datasets are computed from.")
    ] = False,
    integrity: Annotated[
        bool, typer.Option("--integrity", help="Only hashes, links, rules, and what blocks say of files.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Only evaluate the steps of derivative datasets again.")
    ] = False,
    first: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="BLOCK",
            help="The first block to look at, by hash, end of its hash, or number; default: the Seed.",
        ),
    ] = None,
    last: Annotated[
        str | None, typer.Option("--to", metavar="BLOCK", help="The last one; default: the head.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME[@VERSION]",
            help="Replay with this engine; default: the one that each query names.",
        ),
    ] = None,
    sizes_only: Annotated[
        bool,
        typer.Option("--sizes-only", help="Look for files and their sizes, but do not read them; no replay."),
    ] = False,
    no_logical: Annotated[
        bool, typer.Option("--no-logical", help="Do not compute the logical hashes of slices.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Check datasets: their integrity and, where they are computed from others, that they are what their
    queries give."""
    from app.cli.session import find_workspace
    from app.cli.verification import Asked, verify_datasets

    workspace = find_workspace()
    found = [workspace.dataset(item) for item in datasets] if datasets else list(workspace.datasets())
    asked = Asked(
        integrity=integrity or not replay,
        replay=(replay or not integrity) and not sizes_only,
        insists=replay or engine is not None,
        recursive=recursive,
        first=first,
        last=last,
        engine=engine,
        sizes_only=sizes_only,
        logical=not no_logical,
    )
    code = verify_datasets(workspace, found, asked, output)
    if code:
        raise typer.Exit(code)
