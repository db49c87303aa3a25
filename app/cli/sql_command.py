"""`odf sql`: queries over datasets of the workspace."""

import sys
from typing import Annotated, Any

import typer

from app.cli.tail_command import RecordsOutput, write_table


def sql(
    query: Annotated[
        str | None,
        typer.Argument(metavar="[QUERY]", help="The query; without one, queries are read from a prompt."),
    ] = None,
    command: Annotated[str | None, typer.Option("--command", "-c", help="The same as the argument.")] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="Datasets as of an offset, the hash of a block or a system time."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", help="States by to_table at this event time: later records do not count."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many records.")] = 1000,
    output: Annotated[
        RecordsOutput, typer.Option("--output", "-o", help="Form of the output.")
    ] = RecordsOutput.TABLE,
) -> None:
    """Query one or many datasets in Spark SQL.

    A table is a dataset by name: FROM population, FROM population VERSION AS OF '12' (an offset or the hash
    of a block), FROM population TIMESTAMP AS OF '2024-01-01T00:00:00Z', and FROM to_table(population) for
    the state that its changelog tells; to_table(population, as_of => '12', at => '2024-01-01') for that as of
    an offset, a block or a system time, and at an event time.
    """
    from app.cli.engine import query_engine
    from app.cli.session import find_workspace
    from odf_core.workspace.queries import query as run

    if query is not None and command is not None and query != command:
        raise typer.BadParameter("two queries are given", param_hint="--command")
    workspace, text = find_workspace(), query if query is not None else command
    engine = query_engine()
    if text is None and not sys.stdin.isatty():
        text = sys.stdin.read(1 << 20)
    if text is not None:
        write_table(run(workspace, engine, _whole(text), as_of=as_of, at=at, limit=limit), output)
        return
    _prompt(lambda line: write_table(run(workspace, engine, line, as_of=as_of, at=at, limit=limit), output))


def _prompt(answer: Any) -> None:
    """Queries until the end of input; one ends with a semicolon, and a wrong one does not end the rest."""
    import readline  # noqa: F401 - gives input() its history

    from app.cli import outcome
    from odf_core.errors import OdfError

    held = ""
    while True:
        try:
            held += input("odf> " if not held else "...> ") + "\n"
        except EOFError:
            typer.echo("", err=True)
            return
        if not held.strip():
            held = ""
        elif held.rstrip().endswith(";"):
            try:
                answer(_whole(held))
            except OdfError as error:
                outcome.report(error, as_json=False)
            held = ""


def _whole(text: str) -> str:
    return text.strip().rstrip(";")
