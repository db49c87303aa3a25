"""What a worker that the node starts is told of the node's settings."""

from pathlib import Path

from app.settings import EmbeddedSettings, Settings
from app.workers import worker_environment


def test_default_paths_are_told_too() -> None:
    """A child runs in another folder: a relative path, though it is the default, would lead elsewhere."""
    settings = Settings(embedded=EmbeddedSettings(enabled=True))
    assert not settings.embedded.data_dir.is_absolute()
    told = worker_environment(settings)
    assert told["ODF_EMBEDDED__DATA_DIR"] == str(Path.cwd() / settings.embedded.data_dir)
    assert told["ODF_EMBEDDED__ENABLED"] == "true"
