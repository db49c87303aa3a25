"""A data directory with a cluster in it, copied from one that is made once: initdb takes most of a start."""

import shutil
from pathlib import Path

import pytest

from app.embedded import EmbeddedServices


@pytest.fixture(scope="session")
def used_data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("used")
    with EmbeddedServices(path, durable=False):
        pass
    return path


@pytest.fixture
def data_dir(used_data_dir: Path, tmp_path: Path) -> Path:
    """Nothing but the cluster: port, key and objects are made by the test's first start."""
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    shutil.copytree(used_data_dir / "postgres", path / "postgres", symlinks=True)
    return path
