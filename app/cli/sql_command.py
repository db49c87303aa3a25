"""`odf sql`: queries over datasets of the workspace."""

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.cli.tail_command import RecordsOutput, write_table


class SqlEngine(StrEnum):
    """Engines for queries at a terminal."""

    SPARK = "spark"
    DATAFUSION = "datafusion"


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
    engine: Annotated[
        SqlEngine,
        typer.Option("--engine", help="Whose SQL it is; datafusion answers small queries without a JVM."),
    ] = SqlEngine.SPARK,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many records.")] = 1000,
    output: Annotated[
        RecordsOutput, typer.Option("--output", "-o", help="Form of the output.")
    ] = RecordsOutput.TABLE,
) -> None:
    """Query one or many datasets in SQL.

    A table is a dataset by name: FROM population, FROM population VERSION AS OF '12' (an offset or the hash
    of a block), FROM population TIMESTAMP AS OF '2024-01-01T00:00:00Z', and FROM to_table(population) for
    the state that its changelog tells; to_table(population, as_of => '12', at => '2024-01-01') for that as of
    an offset, a block or a system time, and at an event time. DataFusion has only --as-of of these.
    """
    from app.cli.session import find_workspace

    if query is not None and command is not None and query != command:
        raise typer.BadParameter("two queries are given", param_hint="--command")
    workspace, text = find_workspace(), query if query is not None else command
    if at is not None and engine is SqlEngine.DATAFUSION:
        raise typer.BadParameter("only Spark's to_table has it", param_hint="--at")

    def answer(line: str) -> None:
        write_table(_ask(workspace, engine, _whole(line), as_of=as_of, at=at, limit=limit), output)

    if text is None and not sys.stdin.isatty():
        text = sys.stdin.read(1 << 20)
    if text is not None:
        answer(text)
        return
    _prompt(answer)


def _ask(workspace: Any, engine: SqlEngine, line: str, *, at: str | None, **options: Any) -> Any:
    """The result as a table."""
    if engine is SqlEngine.DATAFUSION:
        from odf_core.engines.datafusion.querying import DataFusionQueries
        from odf_core.workspace.queries import query_datafusion

        return query_datafusion(workspace, DataFusionQueries(), line, **options)
    from app.cli.engine import query_engine
    from odf_core.workspace.queries import query

    return query(workspace, query_engine(), line, at=at, **options)


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
                answer(held)
            except OdfError as error:
                outcome.report(error, as_json=False)
            held = ""


def _whole(text: str) -> str:
    return text.strip().rstrip(";")
