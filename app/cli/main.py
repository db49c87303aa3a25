"""Entry point of `odf`. Heavy imports happen inside the commands, so that the command line is quick."""

import itertools
import sys
from typing import Annotated

import typer

from app.cli import outcome, state
from app.cli.admin_commands import admin
from app.cli.chain_commands import chain
from app.cli.commit_command import commit
from app.cli.dataset_commands import register_dataset_commands
from app.cli.engine_commands import engine
from app.cli.format_commands import block, hashes
from app.cli.ingest_commands import ingest
from app.cli.lineage_command import lineage
from app.cli.maintenance_commands import register_maintenance_commands
from app.cli.manifest_commands import add, new
from app.cli.repo_commands import register_login_commands, repo
from app.cli.serve_command import serve
from app.cli.sql_command import sql
from app.cli.tail_command import tail
from app.cli.transfer_commands import pull, push
from app.cli.worker_command import worker

HELP = """Publish, fetch and check datasets of the Open Data Fabric.

Exit codes: 0 done, 2 wrong usage, 3 invalid input, 4 not found, 5 access denied, 6 conflict,
7 wrong bytes, 8 broken chain, 9 protocol error, 10 over a limit, 11 unavailable, 12 outcome unknown,
1 a fault of this program.
"""

cli = typer.Typer(
    name="odf",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("odf-node")
        except PackageNotFoundError:  # run from a source tree that was never installed
            number = "(not installed)"
        typer.echo(f"odf {number}")
        raise typer.Exit


@cli.callback()
def _options(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    state.current = state.State(quiet=quiet, debug=debug)


register_dataset_commands(cli)
cli.command()(new)
cli.command()(add)
cli.command()(commit)
register_maintenance_commands(cli)
cli.command()(ingest)
cli.command()(tail)
cli.command()(sql)
cli.command()(pull)
cli.command()(lineage)
cli.command()(push)
register_login_commands(cli)
cli.add_typer(repo)
cli.add_typer(engine)
cli.command()(serve)
cli.command()(worker)
cli.add_typer(admin)
cli.add_typer(block)
cli.add_typer(hashes)
cli.add_typer(chain)


def main() -> None:
    """Run the command line and exit; never prints a trace without `--debug`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command line with these arguments; the exit code."""
    from odf_core.errors import OdfError

    as_json = _wants_json(arguments)
    state.current = state.State()
    try:
        cli(arguments, prog_name="odf")
    except SystemExit as done:  # usage errors too: told already
        return done.code if isinstance(done.code, int) else outcome.OK
    except OdfError as error:
        _trace()
        return outcome.report(error, as_json=as_json)
    except KeyboardInterrupt:
        return outcome.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last place before the person
        _trace()
        return outcome.report(outcome.unexpected(error), as_json=as_json)
    return outcome.OK


def _trace() -> None:
    if state.current.debug:
        import traceback

        traceback.print_exc()


def _wants_json(arguments: list[str]) -> bool:
    """Whether errors are to be told as JSON; looked up by hand, since an error may precede parsing."""
    pairs = itertools.pairwise(arguments)
    split = any(name in _OUTPUT_OPTIONS and value == "json" for name, value in pairs)
    return split or any(item in {"-ojson", "-o=json", *_OUTPUT_JSON} for item in arguments)


_OUTPUT_OPTIONS = frozenset({"-o", "--output", "--output-format"})
_OUTPUT_JSON = ("--output=json", "--output-format=json")


if __name__ == "__main__":
    main()
