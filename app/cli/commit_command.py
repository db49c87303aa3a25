"""`odf commit`: the metadata of a dataset that exists, changed by events."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.dataset_commands import DatasetArgument
from app.cli.output import Output, OutputFormat, write_record

if TYPE_CHECKING:
    from odf_core.workspace.committing import Committed


def commit(
    dataset: DatasetArgument,
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="EVENT...",
            help="Files in YAML or JSON, http(s) URLs, - for standard input. Each document of them is an "
            "event: as a DatasetSnapshot lists it, or a manifest of the kind MetadataEvent.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and say what would be; write nothing.")
    ] = False,
    old_head: Annotated[
        str | None, typer.Option("--old-head", metavar="HASH", help="Only if this is still the head.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change a dataset's metadata: sources, schema, vocabulary, transformation, info, license, attachments.

    All events are committed, in their order, or none is. One that says what the dataset says already makes
    no block; one that its records or the rules of chains forbid is refused.
    """
    import sys

    from app.cli.manifest_commands import choose_lazily, fetch_manifest, try_queries_lazily
    from app.cli.session import find_workspace
    from odf_core.identity import Multihash
    from odf_core.metadata import Timestamp
    from odf_core.workspace.committing import commit_events
    from odf_core.workspace.manifests import read_event_files

    workspace = find_workspace()
    found = workspace.dataset(dataset)
    placed = read_event_files(events, stdin=sys.stdin.buffer, fetch=fetch_manifest, limits=workspace.limits)
    expected = Multihash.parse(old_head) if old_head is not None else None
    done = commit_events(
        workspace,
        found,
        placed,
        Timestamp.now(),
        old_head=expected,
        dry_run=dry_run,
        trial=try_queries_lazily,
        choose=choose_lazily,
    )
    facts = _facts(done, dry_run) | {"dataset": str(found.alias), "datasetId": str(found.id)}
    write_record(facts, output, sentence=_sentence(facts))


def _facts(done: "Committed", dry_run: bool) -> dict[str, Any]:
    from odf_core.metadata import event_kind

    steps = done.evolution.steps
    return {
        "result": "Updated" if done.old_head != done.new_head else "UpToDate",
        "dryRun": dry_run,
        "oldHead": str(done.old_head),
        "newHead": str(done.new_head),
        "numBlocks": 0 if dry_run else len(done.evolution.blocks),
        "events": [
            {"kind": event_kind(step.event), "change": "None" if step.block is None else "New"}
            for step in steps
        ],
        "notes": list(done.evolution.notes),
    }


def _sentence(facts: dict[str, Any]) -> str:
    name, events = facts["dataset"], facts["events"]
    new = ", ".join(event["kind"] for event in events if event["change"] == "New")
    same = ", ".join(event["kind"] for event in events if event["change"] == "None")
    lines = []
    if new and facts["dryRun"]:
        lines.append(f"{name} would take {new}; nothing was written")
    elif new:
        lines.append(f"{name}: {facts['oldHead'][-8:]} -> {facts['newHead'][-8:]}, {new}")
    if same:
        lines.append(f"{name} says so already, no block is needed: {same}")
    return "\n".join([*lines, *(f"note: {note}" for note in facts["notes"])])
