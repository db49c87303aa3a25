"""`odf serve`: a node in the foreground."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.settings_options import ConfigFile, DataDir, Embedded, settings_from

if TYPE_CHECKING:
    from app.settings import Settings


def serve(
    embedded: Embedded = None,
    data_dir: DataDir = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free one.")
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option("--public-url", metavar="URL", help="Origin under which clients reach the node."),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Run a node until Ctrl-C or SIGTERM; sessions under way may end first."""
    import sys

    given = {"host": host, "port": port, "public_url": public_url}
    http = {name: value for name, value in given.items() if value is not None}
    settings = settings_from(config, embedded, data_dir, http=http)
    if sys.stderr.isatty() and "format" not in settings.log.model_fields_set:
        log = settings.log.model_copy(update={"format": "console"})
        settings = settings.model_copy(update={"log": log})

    from app.serve import serve as run_node

    run_node(settings, announce)


def announce(address: str, settings: "Settings") -> None:
    """Tell the person where the node is and what to do with it."""
    from app.cli import state
    from app.cli.first_steps import introduce

    if not state.current.quiet:
        introduce(address, settings)
