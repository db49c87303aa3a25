"""`odf admin`: what the operator of a node does, also while it runs."""

from typing import Annotated, Any, Literal

import typer

from app.cli.mirror_commands import mirror, repo
from app.cli.output import Output, OutputFormat, write_record, write_records
from app.cli.settings_options import ConfigFile, DataDir, Embedded
from app.cli.words import Visible

admin = typer.Typer(name="admin", help="Operate a node; uses its settings.", no_args_is_help=True)
account = typer.Typer(name="account", help="Accounts.", no_args_is_help=True)
token = typer.Typer(name="token", help="Personal access tokens.", no_args_is_help=True)
dataset = typer.Typer(name="dataset", help="Datasets of the node.", no_args_is_help=True)
for group in (account, token, dataset, repo, mirror):
    admin.add_typer(group)

AccountArgument = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Name of the account.")]
AliasArgument = Annotated[str, typer.Argument(metavar="[ACCOUNT/]NAME", help="Name of the dataset.")]


@admin.callback()
def _settings(
    context: typer.Context, embedded: Embedded = None, data_dir: DataDir = None, config: ConfigFile = None
) -> None:
    """Operate a node; uses its settings.

    Without an address of a database, the embedded services of the data directory are used; a node that
    runs on them need not be stopped.
    """
    context.obj = (config, embedded, data_dir)


@account.command("create")
def create_account(
    context: typer.Context,
    name: AccountArgument,
    display_name: Annotated[str | None, typer.Option("--display-name", help="Name for people.")] = None,
    is_admin: Annotated[bool, typer.Option("--admin", help="May do everything.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make an account."""
    from app.accounts import service
    from app.cli.node import on_node

    made = on_node(
        context.obj,
        lambda node: service.create_account(node.engine, name, display_name=display_name, is_admin=is_admin),
    )
    write_record(_account(made), output, sentence=f"Made account {made.name} ({made.did})")


@account.command("list")
def list_accounts(context: typer.Context, output: Output = OutputFormat.TABLE) -> None:
    """List the accounts."""
    from app.accounts import service
    from app.cli.node import on_node

    rows = on_node(context.obj, lambda node: service.list_accounts(node.engine))
    write_records([_account(row) for row in rows], output, columns=["name", "displayName", "admin", "id"])


@token.command("create")
def create_token(
    context: typer.Context,
    name: AccountArgument,
    label: Annotated[str, typer.Option("--name", help="What the token is for.")] = "token",
    days: Annotated[
        int | None, typer.Option("--days", min=1, help="Life of the token; default: no end.")
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a personal access token. It is shown once, on standard output."""
    from datetime import UTC, datetime, timedelta

    from app.accounts import service
    from app.cli.node import on_node

    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
    made = on_node(
        context.obj, lambda node: service.create_token(node.engine, name, label, expires_at=expires)
    )
    write_record({**_token(made.info), "token": made.text}, output, sentence=made.text)


@token.command("list")
def list_tokens(context: typer.Context, name: AccountArgument, output: Output = OutputFormat.TABLE) -> None:
    """List the tokens of an account, without their secrets."""
    from app.accounts import service
    from app.cli.node import on_node

    rows = on_node(context.obj, lambda node: service.list_tokens(node.engine, name))
    columns = ["id", "name", "createdAt", "expiresAt", "lastUsedAt", "revokedAt"]
    write_records([_token(row) for row in rows], output, columns=columns)


@token.command("revoke")
def revoke_token(
    context: typer.Context,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the token, as `token list` shows it.")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """End a token now."""
    from uuid import UUID

    from app.accounts import service
    from app.cli.node import on_node

    try:
        parsed = UUID(token_id)
    except ValueError as error:
        raise typer.BadParameter("it has to be the id that `odf admin token list` shows") from error
    on_node(context.obj, lambda node: service.revoke_token(node.engine, parsed))
    write_record({"id": str(parsed), "revoked": True}, output, sentence=f"Token {parsed} is revoked")


@dataset.command("list")
def list_datasets(context: typer.Context, output: Output = OutputFormat.TABLE) -> None:
    """List all datasets, private ones too."""
    from app.cli.node import on_node
    from app.datasets.admin import list_all_datasets

    rows = on_node(context.obj, list_all_datasets)
    columns = ["name", "visibility", "kind", "blocks", "updatedAt", "id"]
    write_records([_dataset(row) for row in rows], output, columns=columns)


@dataset.command("set-visibility")
def set_visibility(
    context: typer.Context,
    alias: AliasArgument,
    visibility: Annotated[Visible, typer.Argument(help="Who may see it.")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a dataset public or private."""
    from app.cli.node import on_node
    from app.datasets import admin as operations
    from odf_core.identity import DatasetAlias

    name = DatasetAlias.parse(alias)
    wanted: Literal["private", "public"] = "public" if visibility is Visible.PUBLIC else "private"
    row = on_node(context.obj, lambda node: operations.set_visibility(node, name, wanted))
    write_record(_dataset(row), output, sentence=f"{row.alias} is {row.visibility}")


@dataset.command("delete")
def delete_dataset(
    context: typer.Context,
    alias: AliasArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Remove a dataset from the node, with its files."""
    from app.cli.node import on_node
    from app.datasets import admin as operations
    from odf_core.identity import DatasetAlias

    name = DatasetAlias.parse(alias)
    if not yes:
        typer.confirm(f"Delete {name} with all its files?", abort=True, err=True)
    row = on_node(context.obj, lambda node: operations.delete_dataset(node, name))
    write_record({**_dataset(row), "deleted": True}, output, sentence=f"Deleted {row.alias}")


@admin.command("reindex")
def reindex(
    context: typer.Context,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read and hash every object, not only sizes.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Rebuild the index from the bucket, and say what is damaged there. Deletes nothing.

    An empty database gets its schema first.
    """
    from app.cli.node import on_node
    from app.cli.reindexing import run_reindex, tell_reindex

    report = on_node(context.obj, lambda node: run_reindex(node, rehash=rehash), migrate=True)
    raise typer.Exit(tell_reindex(report, output))


@admin.command("migrate")
def migrate(context: typer.Context, output: Output = OutputFormat.TABLE) -> None:
    """Bring the schema of the database to this version; `odf serve` does it by itself."""
    from app.cli.node import node_services
    from app.database import database_url, upgrade

    with node_services(context.obj) as services:
        upgrade(database_url(services.settings.database))
    write_record({"migrated": True}, output, sentence="The database is up to date")


def _account(row: Any) -> dict[str, Any]:
    return {
        "name": row.name,
        "displayName": row.display_name,
        "admin": row.is_admin,
        "id": row.did,
        "createdAt": row.created_at.isoformat(),
    }


def _token(row: Any) -> dict[str, Any]:
    times = {
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
        "lastUsedAt": row.last_used_at,
        "revokedAt": row.revoked_at,
    }
    shown = {name: value.isoformat() if value is not None else None for name, value in times.items()}
    return {"id": str(row.id), "account": row.account, "name": row.name, **shown}


def _dataset(row: Any) -> dict[str, Any]:
    return {
        "name": str(row.alias),
        "id": str(row.id),
        "visibility": row.visibility,
        "kind": row.kind,
        "blocks": row.head_sequence_number + 1,
        "head": str(row.head),
        "updatedAt": row.updated_at.isoformat(),
    }
