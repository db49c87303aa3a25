"""`odf rename`, `delete`, `reset`, `set-watermark` and `compact`: local datasets kept in order."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.dataset_commands import DatasetArgument
from app.cli.output import Output, OutputFormat, write_record, write_records

if TYPE_CHECKING:
    from odf_core.identity import Multihash
    from odf_core.workspace import LocalDataset

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
OldHead = Annotated[
    str | None, typer.Option("--old-head", metavar="HASH", help="Only if this is still the head.")
]


def register_maintenance_commands(cli: typer.Typer) -> None:
    """Put the commands of this module on the command line."""
    cli.command("rename")(rename)
    cli.command("delete")(delete)
    cli.command("reset")(reset)
    cli.command("set-watermark")(set_watermark)
    cli.command("compact")(compact)


def rename(
    dataset: DatasetArgument,
    name: Annotated[str, typer.Argument(metavar="NEW", help="What it is to be called.")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Give a dataset another name in this workspace; its id stays."""
    from app.cli.session import find_workspace
    from odf_core.identity import DatasetAlias

    workspace, alias = find_workspace(), DatasetAlias.parse(name)
    found = workspace.dataset(dataset)
    old = str(found.alias)
    workspace.rename(found, alias)
    facts = {"dataset": str(alias), "datasetId": str(found.id), "oldName": old}
    write_record(facts, output, sentence=f"Renamed {old} to {alias}")


def delete(
    datasets: Annotated[list[str], typer.Argument(metavar="DATASET...", help="Names or ids.")],
    yes: Yes = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where other datasets are computed from them.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove datasets from the workspace, with their records; copies elsewhere stay."""
    from app.cli.session import find_workspace
    from odf_core.workspace.deletion import check_unused, delete_datasets

    workspace = find_workspace()
    found = list({item.id: item for item in map(workspace.dataset, datasets)}.values())
    check_unused(workspace, found, force=force)
    rows = [{"dataset": str(item.alias), "datasetId": str(item.id), "deleted": True} for item in found]
    names = ", ".join(str(row["dataset"]) for row in rows)
    if not yes:
        typer.confirm(f"Delete {names}?", abort=True, err=True)
    broken = delete_datasets(workspace, found, force=force)
    if len(rows) == 1 or output is OutputFormat.TABLE:
        said = "".join(f"Deleted {row['dataset']}\n" for row in rows) + _lost(broken)
        write_record(rows[0], output, sentence=said.rstrip())  # one is told as an object
    else:
        write_records(rows, output, columns=[])


def reset(
    dataset: DatasetArgument,
    block: Annotated[
        str | None,
        typer.Argument(
            metavar="[BLOCK]",
            help="The block that becomes the head, by hash, end of its hash, or number; default: the Seed.",
        ),
    ] = None,
    old_head: OldHead = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Take a dataset back to an earlier block; later blocks are no longer part of it."""
    from app.cli.describe import find_block
    from app.cli.session import find_workspace
    from odf_core.workspace.reset import reset_dataset

    workspace = find_workspace()
    found = workspace.dataset(dataset)
    target = find_block(found.folder, block).hash if block is not None else None
    if not yes:
        where = f"block {target}" if target is not None else "its Seed"
        typer.confirm(f"Take {found.alias} back to {where}?", abort=True, err=True)
    done = reset_dataset(workspace, found, target, old_head=_hash(old_head))
    facts = _heads(found, done.old_head, done.new_head) | {
        "numBlocks": done.num_blocks,
        "broken": [str(item.alias) for item in done.broken],
    }
    sentence = f"{found.alias} is at {done.new_head.short}; {done.num_blocks} block(s) taken off"
    write_record(facts, output, sentence=f"{sentence}\n{_lost(done.broken, 'reset them too')}".rstrip())


def set_watermark(
    dataset: DatasetArgument,
    watermark: Annotated[
        str, typer.Argument(metavar="TIMESTAMP", help="Such as 2024-05-01T00:00:00Z (RFC 3339).")
    ],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Say that all records of events before a moment are in; a watermark never goes back."""
    from app.cli.session import find_workspace
    from odf_core.metadata import Timestamp
    from odf_core.workspace.watermark import set_watermark as set_it

    found = find_workspace().dataset(dataset)
    done = set_it(found, Timestamp.parse(watermark), Timestamp.now())
    facts = _heads(found, done.old_head, done.new_head) | {
        "oldWatermark": str(done.old_watermark) if done.old_watermark is not None else None,
        "watermark": str(done.watermark),
    }
    updated = done.old_head != done.new_head
    said = f"The watermark of {found.alias} is {done.watermark}{'' if updated else ' already: up-to-date'}"
    write_record(facts, output, sentence=said)


def compact(
    dataset: DatasetArgument,
    hard: Annotated[
        bool, typer.Option("--hard", help="Rewrite history; it is said for clarity, there is no other way.")
    ] = False,
    max_slice_size: Annotated[
        int, typer.Option("--max-slice-size", min=1, help="Bytes of a slice that is made of several.")
    ] = 300_000_000,
    max_slice_records: Annotated[
        int, typer.Option("--max-slice-records", min=1, help="Records of such a slice.")
    ] = 10_000,
    keep_metadata_only: Annotated[
        bool, typer.Option("--keep-metadata-only", help="Drop all records and queries instead.")
    ] = False,
    keep_old_files: Annotated[
        bool, typer.Option("--keep-old-files", help="Leave blocks and files that nothing names any more.")
    ] = False,
    old_head: OldHead = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Rewrite a dataset with fewer, larger slices. Its history changes: copies diverge from it, and
    datasets computed from it have to be computed anew."""
    from app.cli.session import find_workspace
    from odf_core.workspace.compaction.options import CompactionOptions
    from odf_core.workspace.compaction.run import compact as run

    workspace = find_workspace()
    found = workspace.dataset(dataset)
    if not yes:
        what = "Drop all records of" if keep_metadata_only else "Rewrite the history of"
        typer.confirm(f"{what} {found.alias}?", abort=True, err=True)
    options = CompactionOptions(
        max_slice_size=max_slice_size,
        max_slice_records=max_slice_records,
        keep_metadata_only=keep_metadata_only,
        keep_old_files=keep_old_files,
    )
    done = run(workspace, found, options, old_head=_hash(old_head))
    facts = _heads(found, done.old_head, done.new_head) | {
        "oldBlocks": done.old_blocks,
        "newBlocks": done.new_blocks,
        "oldSlices": done.old_slices,
        "newSlices": done.new_slices,
        "broken": [str(item.alias) for item in done.broken],
    }
    sentence = f"There is nothing to compact in {found.alias}"
    if done.old_head != done.new_head:
        sentence = (
            f"{found.alias}: {done.old_blocks} blocks became {done.new_blocks}, "
            f"{done.old_slices} slices {done.new_slices}\n{_lost(done.broken, 'reset them')}"
        )
    write_record(facts, output, sentence=sentence.rstrip())


def _heads(dataset: "LocalDataset", old: "Multihash", new: "Multihash") -> dict[str, Any]:
    return {
        "result": "UpToDate" if old == new else "Updated",
        "dataset": str(dataset.alias),
        "datasetId": str(dataset.id),
        "oldHead": str(old),
        "newHead": str(new),
    }


def _lost(broken: "tuple[LocalDataset, ...] | list[LocalDataset]", remedy: str = "") -> str:
    names = ", ".join(str(item.alias) for item in broken)
    return f"No longer computable: {names}{'; ' if remedy else ''}{remedy}\n" if names else ""


def _hash(text: str | None) -> "Multihash | None":
    from odf_core.identity import Multihash

    return Multihash.parse(text) if text is not None else None
