"""`odf pull` and `odf push`."""

from typing import Annotated, Any

import typer

from app.cli.output import Output, OutputFormat, write_record
from app.cli.words import Dialect, Visible

Parallelism = Annotated[
    int | None, typer.Option("--parallelism", "-j", min=1, max=512, help="Objects in transfer at once.")
]
Token = Annotated[
    str | None,
    typer.Option("--token", envvar="ODF_TOKEN", help="Access token, instead of the one of `odf login`."),
]
DialectOption = Annotated[
    Dialect, typer.Option("--dialect", help="Encoding of the Smart Transfer Protocol to speak.")
]


def pull(
    references: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|REF...",
            help="odf+http(s)://… (Smart), http(s)://… or file://… (Simple), repo/[account/]name, or the "
            "name or id of a dataset that was pulled before, has a polling source or is derivative.",
        ),
    ] = None,
    recursive: Annotated[
        bool,
        typer.Option("--recursive", "-r", help="Bring all that a dataset is computed from up to date first."),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Every dataset that is pulled, polled or computed.")
    ] = False,
    name: Annotated[str | None, typer.Option("--as", help="What the dataset is called here.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the local chain where the two sides have diverged.")
    ] = False,
    no_alias: Annotated[bool, typer.Option("--no-alias", help="Do not save the address.")] = False,
    fetch_uncacheable: Annotated[
        bool,
        typer.Option("--fetch-uncacheable", help="Poll a source again that cannot tell whether it changed."),
    ] = False,
    dialect: DialectOption = Dialect.DEPLOYED,
    parallelism: Parallelism = None,
    token: Token = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Fetch datasets or bring them up to date: from a repository, from a polling source, or by computing.

    Every hash is checked; an interrupted pull is resumed. A derivative dataset is computed from what is new
    in its inputs, as they are here; with --recursive these come first, each once, inputs before readers.
    """
    from app.cli.session import find_workspace, transfer_options, watching
    from app.cli.updating import Wanted, is_updated_here, update
    from odf_core.identity import DatasetAlias
    from odf_core.transfer.client import DialectName
    from odf_core.workspace import Transfers

    if bool(references) == every:
        raise typer.BadParameter("name what to pull, or say --all", param_hint="URL|REF / --all")
    found = references or []
    if name is not None and len(found) != 1:
        raise typer.BadParameter("one name cannot be given to several datasets", param_hint="--as")
    workspace = find_workspace()
    options = transfer_options(dialect=DialectName(dialect.value), parallelism=parallelism)
    alias = DatasetAlias.parse(name) if name is not None else None
    if len(found) > 1 or recursive or every or is_updated_here(workspace, found[0]):
        wanted = Wanted(tuple(found), recursive, every, alias, force, not no_alias, fetch_uncacheable)
        update(workspace, wanted, options, token, output)
        return
    with watching() as progress:
        done = Transfers(workspace, options, progress, token).pull(
            found[0], name=alias, force=force, remember=not no_alias
        )
    facts = _facts(done)
    write_record(facts, output, sentence=_sentence("updated", facts))


def push(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="Name or id of a dataset of the workspace.")
    ],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="URL|REPO",
            help="odf+http(s)://…, a repository, or repo/[account/]name; default: the saved address, else "
            "the only repository.",
        ),
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="The same as the second argument.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the node's chain where the two sides have diverged.")
    ] = False,
    visibility: Annotated[
        Visible, typer.Option("--visibility", help="Who may see a dataset that the push creates.")
    ] = Visible.PRIVATE,
    no_alias: Annotated[bool, typer.Option("--no-alias", help="Do not save the address.")] = False,
    dialect: DialectOption = Dialect.DEPLOYED,
    parallelism: Parallelism = None,
    token: Token = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Publish a dataset, or what is new of it. What the node has already does not move again."""
    from app.cli.session import find_workspace, transfer_options, watching
    from odf_core.transfer import Visibility
    from odf_core.transfer.client import DialectName
    from odf_core.workspace import Transfers

    if target is not None and to is not None and target != to:
        raise typer.BadParameter("two targets are given", param_hint="--to")
    workspace = find_workspace()
    options = transfer_options(dialect=DialectName(dialect.value), parallelism=parallelism)
    with watching() as progress:
        done = Transfers(workspace, options, progress, token).push(
            reference,
            target or to,
            force=force,
            visibility=Visibility.PUBLIC if visibility is Visible.PUBLIC else Visibility.PRIVATE,
            remember=not no_alias,
        )
    facts = _facts(done)
    write_record(facts, output, sentence=_sentence("pushed", facts))


def _facts(done: Any) -> dict[str, Any]:
    """The result as an object: what `-o json` prints."""
    from odf_core.transfer.client import Updated

    result = done.result
    facts: dict[str, Any] = {
        "result": "Updated" if isinstance(result, Updated) else "UpToDate",
        "dataset": str(done.dataset.alias),
        "datasetId": str(done.dataset.id),
        "address": done.address,
    }
    if not isinstance(result, Updated):
        return facts | {"head": str(result.head)}
    return facts | {
        "oldHead": str(result.old_head) if result.old_head is not None else None,
        "newHead": str(result.new_head),
        "numBlocks": result.num_blocks,
        "objectsMoved": result.stats.objects_moved,
        "objectsPresent": result.stats.objects_present,
        "bytesMoved": result.stats.bytes_moved,
    }


def _sentence(verb: str, facts: dict[str, Any]) -> str:
    if facts["result"] == "UpToDate":
        return "1 dataset(s) up-to-date"
    old = facts["oldHead"][-8:] if facts["oldHead"] else "nothing"
    return (
        f"1 dataset(s) {verb}\n"
        f"{facts['dataset']}: {old} -> {facts['newHead'][-8:]}, {facts['numBlocks']} blocks, "
        f"{facts['objectsMoved']} objects moved ({facts['bytesMoved']} bytes), "
        f"{facts['objectsPresent']} were there"
    )
