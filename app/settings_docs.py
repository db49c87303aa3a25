"""docs/settings.md, made from the settings themselves.

`python -m app.settings_docs` writes the file; `--check` fails where it is out of date.
"""

import sys
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from app.settings import CONFIG_VARIABLE, ENV_PREFIX, NESTING, Settings
from odf_core.limits import GiB, KiB, MiB

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

_HEAD = f"""# Settings

<!-- Made by `python -m app.settings_docs`; a test compares it with the code. -->

A setting comes from, in falling order of weight:

1. an argument of the program (`odf serve --help`),
2. an environment variable, named in the tables (`{ENV_PREFIX}<GROUP>{NESTING}<NAME>`),
3. a TOML file that `{CONFIG_VARIABLE}` or `odf serve --config` names, with a table per group,
4. the default.

A name that is not in these tables is refused when the node starts. Secrets never appear in logs.
Sizes are bytes.

```toml
tenancy = "multi"

[http]
public_url = "https://odf.example.org"

[s3]
bucket = "my-datasets"
```
"""


def render() -> str:
    """The whole page."""
    plain = [(name, field) for name, field in Settings.model_fields.items() if _group_of(field) is None]
    parts = [_HEAD, "## General\n", _table("", plain)]
    for name, field in Settings.model_fields.items():
        group = _group_of(field)
        if group is not None:
            parts += [
                f"## `{name}`\n",
                f"{_first_line(group)}\n",
                _table(name, list(group.model_fields.items())),
            ]
    return "\n".join(parts)


def _group_of(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _first_line(group: type[BaseModel]) -> str:
    return (group.__doc__ or "").strip().splitlines()[0]


def _table(group: str, fields: list[tuple[str, FieldInfo]]) -> str:
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, field in fields:
        variable = ENV_PREFIX + (f"{group}{NESTING}" if group else "").upper() + name.upper()
        meaning = (field.description or "").replace("|", "\\|")
        rows.append(f"| `{name}`<br>`{variable}` | {_default(field)} | {meaning}{_choices(field)} |")
    return "\n".join(rows) + "\n"


def _default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, SecretStr):
        return "not set"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int):
        for unit, name in ((GiB, "GiB"), (MiB, "MiB"), (KiB, "KiB")):
            if value >= unit and value % unit == 0:
                return f"`{value}` ({value // unit} {name})"
    return f"`{value}`" if value != "" else "empty"


def _choices(field: FieldInfo) -> str:
    values = [value for value in get_args(field.annotation) if isinstance(value, str | int)]
    return f" One of {', '.join(f'`{value}`' for value in values)}." if values else ""


def main(arguments: list[str]) -> int:
    """Write the page, or compare it (`--check`); the exit status."""
    if arguments == ["--check"]:
        return 0 if DOCUMENT.is_file() and DOCUMENT.read_text(encoding="utf-8") == render() else 1
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
