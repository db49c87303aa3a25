"""What a command prints: one value, as JSON, YAML or a table for people."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

Record = Mapping[str, Any]


class OutputFormat(StrEnum):
    """Forms of output."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


class ManifestFormat(StrEnum):
    """Forms of a manifest."""

    YAML = "yaml"
    JSON = "json"


Output = Annotated[
    OutputFormat, typer.Option("--output", "-o", help="Form of the output.", show_default=True)
]
ManifestOutput = Annotated[
    ManifestFormat, typer.Option("--output", "-o", help="Form of the manifest.", show_default=True)
]


def write_json(value: object) -> None:
    """One JSON document on standard output, indented."""
    import json

    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


def write_yaml(value: object) -> None:
    """One YAML document on standard output."""
    import yaml

    sys.stdout.write(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))


def write_records(records: Sequence[Record], form: OutputFormat, *, columns: Sequence[str]) -> None:
    """Rows with these `columns`; in JSON and YAML a list of objects with all their members."""
    rows = [dict(record) for record in records]
    if form is OutputFormat.JSON:
        write_json(rows)
    elif form is OutputFormat.YAML:
        write_yaml(rows)
    else:
        _write_table(rows, columns)


def write_record(record: Record, form: OutputFormat, *, sentence: str) -> None:
    """One result: a sentence for people, an object for programs."""
    if form is OutputFormat.JSON:
        write_json(dict(record))
    elif form is OutputFormat.YAML:
        write_yaml(dict(record))
    else:
        sys.stdout.write(sentence + "\n")


def _write_table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    if not sys.stdout.isatty():
        # For pipes: tab-separated with a header, nothing cut off.
        lines = ["\t".join(columns)]
        lines += ["\t".join(_cell(row.get(column)) for column in columns) for row in rows]
        sys.stdout.write("\n".join(lines) + "\n")
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    Console(soft_wrap=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return "".join(char if char.isprintable() else " " for char in text)
