"""Releases of this project with a changed engine, as wheels that pip installs.

A wheel brings a `.pth` file by which its environment finds the packages of this one, so that nothing has to
be fetched; its own `odf_core` comes first.
"""

import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SUFFIXES = {".py", ".java", ".txt", ".properties"}
_DATA = "odf_node-{0}.dist-info"

Edits = Mapping[str, tuple[str, str]]
"""For files below `odf_core` a text in it, and what stands there in the release."""


def release(
    folder: Path,
    version: str,
    edits: Edits | None = None,
    requires: str | None = None,
    lock: str | None = None,
    left_out: str | None = None,
) -> Path:
    """A wheel of the source tree with these edits."""
    edits = dict(edits or {})
    files: dict[str, bytes] = {}
    for path in sorted((ROOT / "odf_core").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in _SUFFIXES and path.is_file() and name != left_out:
            content = path.read_text(encoding="utf-8")
            if name in edits:
                old, new = edits.pop(name)
                assert content.count(old) == 1, (name, old)
                content = content.replace(old, new)
            files[name] = content.encode()
    assert not edits, edits
    data = _DATA.format(version)
    metadata = f"Metadata-Version: 2.1\nName: odf-node\nVersion: {version}\n"
    metadata += f"Requires-Dist: {requires}\n" if requires else ""
    files["shared.pth"] = f"{sysconfig.get_path('purelib')}\n".encode()
    files[f"{data}/METADATA"] = metadata.encode()
    files[f"{data}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    if lock is not None:
        files[f"{data}/extra_metadata/requirements.txt"] = lock.encode()
    files[f"{data}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{data}/RECORD"]).encode()
    wheel = folder / f"odf_node-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def left(folder: Path) -> list[str]:
    """What is in a folder of environments."""
    return sorted(item.name for item in folder.iterdir() if item.name != ".lock") if folder.is_dir() else []
