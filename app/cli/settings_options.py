"""The options by which `odf serve` and `odf admin` are told of settings."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from app.settings import Settings

ConfigFile = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="Settings as TOML; see docs/settings.md.")
]
Embedded = Annotated[
    bool | None,
    typer.Option("--embedded/--no-embedded", help="With a Postgres and an S3 server of the node's own."),
]
DataDir = Annotated[
    str | None, typer.Option("--data-dir", metavar="DIR", help="Where the embedded ones keep everything.")
]


def settings_from(
    config: str | None, embedded: bool | None, data_dir: str | None, **groups: dict[str, Any]
) -> "Settings":
    """The settings of environment, file and options, the last winning. Raises `SettingsInvalid`."""
    from pathlib import Path

    from app.settings import load_settings

    own: dict[str, Any] = {}
    if embedded is not None or data_dir is not None:
        own["enabled"] = embedded is not False
    if data_dir is not None:
        own["data_dir"] = Path(data_dir)
    given = {**groups, "embedded": own}
    overrides = {name: values for name, values in given.items() if values}
    return load_settings(Path(config) if config is not None else None, **overrides)
