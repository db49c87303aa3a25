"""`odf admin repo` and `odf admin mirror`: repositories of other nodes, and what is mirrored from them."""

from typing import Annotated, Any

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

repo = typer.Typer(name="repo", help="Repositories that datasets are mirrored from.", no_args_is_help=True)
mirror = typer.Typer(name="mirror", help="Datasets of other nodes, kept up to date.", no_args_is_help=True)

RepoArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the repository on this node.")]


@repo.command("add")
def add_repo(
    context: typer.Context,
    name: RepoArgument,
    url: Annotated[str, typer.Argument(metavar="URL", help="odf+https://… or odf+http://….")],
    token: Annotated[
        str | None,
        typer.Option("--token", help="Access token of this node there; - reads it from standard input."),
    ] = None,
    accounts: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="ACCOUNT", help="May mirror what the token shows; besides admins."),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Register a repository, or change token and accounts of one.

    Every account may mirror what the repository shows to anybody.
    """
    from app.cli.login import read_token
    from app.cli.node import on_node
    from app.mirrors.repositories import register

    secret = None if token is None else read_token(token)
    made = on_node(
        context.obj, lambda node: register(node.engine, name, url, token=secret, accounts=accounts or ())
    )
    row = {"name": name, "url": made.url, "hasToken": made.token is not None, "accounts": accounts or []}
    write_record(row, output, sentence=f"Repository {name} is {made.url}")


@repo.command("list")
def list_repos(context: typer.Context, output: Output = OutputFormat.TABLE) -> None:
    """List the repositories, without their tokens."""
    from app.cli.node import on_node
    from app.mirrors.repositories import list_repositories

    found = on_node(context.obj, lambda node: list_repositories(node.engine))
    rows = [
        {
            "name": str.__str__(item.name),
            "url": item.url,
            "hasToken": item.token is not None,
            "accounts": names,
        }
        for item, names in found
    ]
    write_records(rows, output, columns=["name", "url", "hasToken", "accounts"])


@repo.command("remove")
def remove_repo(context: typer.Context, name: RepoArgument, output: Output = OutputFormat.TABLE) -> None:
    """Forget a repository and its token; mirrors stay, and follow it no more."""
    from app.cli.node import on_node
    from app.mirrors.repositories import unregister

    on_node(context.obj, lambda node: unregister(node.engine, name))
    write_record({"name": name, "removed": True}, output, sentence=f"Repository {name} is removed")


@mirror.command("add")
def add_mirror(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="REPO/[ACCOUNT/]NAME, did:odf:…, or a URL on a repository."),
    ],
    account: Annotated[str, typer.Option("--account", help="Account that it belongs to here.")],
    name: Annotated[str | None, typer.Option("--as", help="What it is called here.")] = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Also all it is computed from.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Take over a source that was reset or replaced.")
    ] = False,
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for the worker.")] = 30,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Mirror a dataset, or bring its mirror up to date; a worker of the node does it."""
    from app.cli.node import on_node
    from app.jobs.errors import error_of
    from app.mirrors.admin import mirror_for

    job = on_node(
        context.obj,
        lambda node: mirror_for(
            node, account, source, name=name, recursive=recursive, force=force, seconds=wait
        ),
    )
    if job.error is not None:
        raise error_of(job.error)
    row: dict[str, Any] = {"job": str(job.id), "state": job.state, **(job.result or {})}
    write_record(row, output, sentence=_sentence(row))


def _sentence(row: dict[str, Any]) -> str:
    if row["state"] != "done":
        return (
            f"Job {row['job']} is {row['state']}; `odf admin mirror list` shows the mirror when it is there"
        )
    return "\n".join(
        f"{item['dataset']} is a mirror of {item['source']}: {item['numBlocks']} new blocks"
        for item in row["datasets"]
    )


@mirror.command("list")
def list_mirrors(context: typer.Context, output: Output = OutputFormat.TABLE) -> None:
    """List all mirrors, and how their last job went."""
    from app.cli.node import on_node
    from app.mirrors.admin import all_mirrors

    rows = [
        {
            "name": str(item.dataset.alias),
            "source": item.dataset.mirror_of,
            "recursive": item.is_recursive,
            "visibility": item.dataset.visibility,
            "blocks": item.dataset.head_sequence_number + 1,
            "state": item.state,
            "problem": None if item.error is None else item.error["message"],
        }
        for item in on_node(context.obj, all_mirrors)
    ]
    columns = ["name", "source", "recursive", "visibility", "blocks", "state", "problem"]
    write_records(rows, output, columns=columns)


@mirror.command("stop")
def stop_mirror(
    context: typer.Context,
    alias: Annotated[str, typer.Argument(metavar="[ACCOUNT/]NAME", help="Name of the mirror.")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Follow the source no more; the dataset stays, and its owner may push into it."""
    from app.cli.node import on_node
    from app.datasets.admin import address_of
    from app.mirrors.service import end_mirror
    from odf_core.identity import DatasetAlias

    name = DatasetAlias.parse(alias)
    ended = on_node(context.obj, lambda node: end_mirror(node, address_of(node, name)))
    row = {"name": str(ended.alias), "source": ended.mirror_of, "stopped": True}
    write_record(row, output, sentence=f"{ended.alias} follows {ended.mirror_of} no more")
