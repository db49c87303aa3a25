"""The reference of the command line in docs/cli.md, made from the commands themselves.

    .venv/bin/python -m app.cli.reference

rewrites the part of the page between its two marks; `tests/cli/test_reference.py` holds the page to it.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer

from app.cli.main import cli

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"


def reference() -> str:
    """The section of each command: usage, what it does, arguments and options."""
    root = typer.main.get_command(cli)
    return "\n".join(line for name, command in _commands("odf", root) for line in _section(name, command))


def page_with(text: str, section: str) -> str:
    """The page with `section` between its marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{section}\n{END}{after}"


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command
        return
    for child_name, child in children.items():
        yield from _commands(f"{name} {child_name}", child)


def _section(name: str, command: Any) -> Iterator[str]:
    shown = [item for item in command.params if not item.hidden and item.name != "help"]
    arguments = [item for item in shown if item.param_type_name == "argument"]
    options = [item for item in shown if item.param_type_name == "option"]
    usage = " ".join(_usage(item) for item in arguments)
    yield f"### `{' '.join(part for part in (name, usage) if part)}`"
    yield ""
    yield from (" ".join(paragraph.split()) + "\n" for paragraph in (command.help or "").split("\n\n"))
    if not shown:
        return
    yield "| | |"
    yield "| --- | --- |"
    for item in arguments:
        yield f"| `{_metavar(item)}` | {_cell(item.help)} |"
    for item in options:
        spelled = ", ".join(f"`{spelling}`" for spelling in sorted(item.opts, key=len))
        off = "".join(f", `{spelling}`" for spelling in item.secondary_opts)
        yield f"| {spelled}{off}{_values(item)} | {_cell(item.help)}{_default(item)} |"
    yield ""


def _usage(argument: Any) -> str:
    name = _metavar(argument)
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _values(option: Any) -> str:
    kind = option.type_descriptor.annotation
    is_choice = isinstance(kind, type) and issubclass(kind, Enum)
    return " " + " / ".join(str(item.value) for item in kind) if is_choice else ""


def _default(option: Any) -> str:
    value = getattr(option.default, "value", option.default)
    if value is None or value is False or value == [] or callable(value):
        return ""
    return f" Default: `{value}`."


def _cell(text: str | None) -> str:
    return (text or "").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), reference()), encoding="utf-8")
