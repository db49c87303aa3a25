"""`odf repo`, `odf login` and `odf logout`."""

from typing import Annotated

import typer

from app.cli.output import Output, OutputFormat, write_record, write_records

repo = typer.Typer(
    name="repo", help="Repositories that datasets are pulled from and pushed to.", no_args_is_help=True
)

RepoArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the repository in this workspace.")
]


@repo.command("add")
def add(
    name: RepoArgument,
    url: Annotated[str, typer.Argument(metavar="URL", help="odf+https://… or odf+http://….")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Register a repository."""
    from app.cli.session import find_workspace
    from odf_core.identity import RepoName

    kept = find_workspace().repos.add(RepoName(name), url)
    write_record({"name": name, "url": kept}, output, sentence=f"Repository {name} is {kept}")


@repo.command("list")
def list_repos(output: Output = OutputFormat.TABLE) -> None:
    """List the repositories."""
    from app.cli.session import find_workspace

    repos = find_workspace().repos
    rows = [{"name": str.__str__(name), "url": url} for name, url in repos.items()]
    write_records(rows, output, columns=["name", "url"])


@repo.command("remove")
def remove(name: RepoArgument, output: Output = OutputFormat.TABLE) -> None:
    """Forget a repository; nothing else changes."""
    from app.cli.session import find_workspace
    from odf_core.identity import RepoName

    find_workspace().repos.remove(RepoName(name))
    write_record({"name": name, "removed": True}, output, sentence=f"Repository {name} is removed")


def register_login_commands(cli: typer.Typer) -> None:
    """Put `login` and `logout` on the command line."""
    cli.command("login")(login)
    cli.command("logout")(logout)


def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="The node, such as https://odf.example.org.")],
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            "--access-token",
            envvar="ODF_TOKEN",
            help="Access token; - reads it from standard input, without the option it is asked for.",
        ),
    ] = None,
    repo_name: Annotated[
        str | None, typer.Option("--repo-name", help="Also register the node as a repository of this name.")
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Keep the token without asking the node.")
    ] = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Keep an access token for a node, in a file that only you can read."""
    from app.cli.login import check_token, read_token
    from odf_core.workspace import TokenStore
    from odf_core.workspace.repos import repo_url

    address = repo_url(url)
    secret = read_token(token)
    account = None if no_check else check_token(address, secret)
    origin = TokenStore().set(address, secret)
    if repo_name is not None:
        add_repo(repo_name, address)
    who = f" as {account}" if account is not None else ""
    write_record({"origin": origin, "account": account}, output, sentence=f"Logged in to {origin}{who}")


def add_repo(name: str, url: str) -> None:
    """Register a repository in the workspace of the current folder."""
    from app.cli.session import find_workspace
    from odf_core.identity import RepoName

    find_workspace().repos.add(RepoName(name), url)


def logout(
    url: Annotated[str, typer.Argument(metavar="URL", help="The node.")], output: Output = OutputFormat.TABLE
) -> None:
    """Forget the token for a node."""
    from odf_core.workspace import TokenStore
    from odf_core.workspace.repos import repo_url
    from odf_core.workspace.tokens import origin_key

    address = repo_url(url)
    found = TokenStore().remove(address)
    said = "Logged out of" if found else "There was no token for"
    write_record(
        {"origin": origin_key(address), "loggedOut": found}, output, sentence=f"{said} {origin_key(address)}"
    )
