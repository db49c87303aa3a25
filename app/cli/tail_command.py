"""`odf tail`: the last records of a dataset."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from app.cli.dataset_commands import DatasetArgument


class RecordsOutput(StrEnum):
    """Forms of records at a terminal."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    NDJSON = "ndjson"
    JSON_SOA = "json-soa"
    JSON_AOA = "json-aoa"
    CSV = "csv"


OPERATIONS = {0: "+A", 1: "-R", 2: "-C", 3: "+C"}
"""Codes of operations as people know them (data.md 3.6)."""


def tail(
    dataset: DatasetArgument,
    records: Annotated[int, typer.Option("--num-records", "-n", min=0, help="How many records.")] = 10,
    skip: Annotated[int, typer.Option("--skip", "-s", min=0, help="Leave out so many of the newest.")] = 0,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", help="The dataset as of an offset, the hash of a block or a system time."),
    ] = None,
    state: Annotated[
        bool, typer.Option("--state", help="Only records that stand: no superseded, no retracted ones.")
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", help="The state at this event time: later records do not count.")
    ] = None,
    output: Annotated[
        RecordsOutput, typer.Option("--output", "-o", help="Form of the output.")
    ] = RecordsOutput.TABLE,
) -> None:
    """Show the last records of a dataset, in the order of their offsets.

    With --state or --at those that stand, as the changelog tells: by key the last one that is no retraction.
    """
    from app.cli.session import find_workspace
    from odf_core.chain import parse_moment
    from odf_core.data.records.tail import TailRange
    from odf_core.workspace.state import current_state
    from odf_core.workspace.tail import resolve_as_of, standing
    from odf_core.workspace.tail import tail as read_tail

    found = find_workspace().dataset(dataset)
    until = None if as_of is None else resolve_as_of(found, as_of)
    wanted = TailRange(limit=records, skip=skip, as_of=until)
    if state or at is not None:
        table = standing(found, wanted, at=None if at is None else parse_moment(at))
    else:
        table = read_tail(found, wanted)
    write_table(table, output, operation=current_state(found.folder).vocabulary.operation_type_column)


def write_table(table: Any, output: RecordsOutput, *, operation: str | None = None) -> None:
    """Records on standard output; in a table the codes of the column `operation` are spelt out."""
    import sys

    from app.cli.output import OutputFormat, write_records, write_yaml
    from odf_core.data.records.encode import RecordsFormat, encode_records, json_text

    if output is RecordsOutput.CSV:
        sys.stdout.write(encode_records(table, RecordsFormat.CSV) + "\n")
    elif output is RecordsOutput.YAML:
        write_yaml(encode_records(table))
    elif output is RecordsOutput.TABLE:
        rows = [_shown(row, operation) for row in encode_records(table)]
        write_records(rows, OutputFormat.TABLE, columns=table.column_names)
    elif output is RecordsOutput.JSON_SOA:
        sys.stdout.write(json_text(encode_records(table, RecordsFormat.JSON_SOA)) + "\n")
    else:
        form = RecordsFormat.JSON_AOA if output is RecordsOutput.JSON_AOA else RecordsFormat.JSON_AOS
        lines = [json_text(row) for row in encode_records(table, form)]
        if output is RecordsOutput.NDJSON:
            sys.stdout.write("".join(f"{line}\n" for line in lines))
        else:
            sys.stdout.write("[" + ",\n ".join(lines) + "]\n")


def _shown(row: dict[str, Any], operation: str | None) -> dict[str, Any]:
    """Cells for people: nested ones as JSON, operations by name."""
    from odf_core.data.records.encode import json_text

    shown: dict[str, Any] = {
        name: json_text(cell) if isinstance(cell, dict | list) else cell for name, cell in row.items()
    }
    if operation is not None and operation in shown:
        shown[operation] = OPERATIONS.get(shown[operation], shown[operation])
    return shown
