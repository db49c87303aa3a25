"""The rules of the house that a program can hold: doors, sizes, nothing of one machine in the repository."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = ("odf_core", "app", "migrations", "bench")
MOST_LINES = 500
BOTO3_DOORS = re.compile(r"odf_core/storage/s3(_\w+)?\.py")
SERVER_FRAMEWORKS = {"fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "psycopg"}


def tracked_files() -> list[Path]:
    """What is, or is about to be, in the repository; everything of it that is text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("not a git checkout")
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def text_of(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def code_files() -> list[Path]:
    return sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))


def imported_packages(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def test_the_doors_hold() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_boto3_is_met_in_one_place() -> None:
    users = [
        path.relative_to(ROOT).as_posix()
        for path in code_files()
        if {"boto3", "botocore"} & set(imported_packages(path))
    ]
    assert [name for name in users if not BOTO3_DOORS.fullmatch(name) and not name.startswith("bench/")] == []


def test_the_library_imports_no_server() -> None:
    for path in (ROOT / "odf_core").rglob("*.py"):
        assert not SERVER_FRAMEWORKS & set(imported_packages(path)), path


def test_modules_are_small() -> None:
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in code_files()}
    assert {name: lines for name, lines in sizes.items() if lines > MOST_LINES} == {}


def test_nothing_is_left_to_do_and_nothing_is_swallowed() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X:", r"raise\s+NotImplemented" + "Error")
    words = re.compile("|".join(marks))
    found = [str(path.relative_to(ROOT)) for path in code_files() if words.search(path.read_text())]
    assert found == []


def test_no_address_of_a_registry_and_no_path_of_a_machine() -> None:
    forbidden = re.compile(
        "|".join(
            [
                r"\bpypi" + r"\.(org|python\.org)",
                r"pythonhosted" + r"\.org",
                r"registry\." + r"npmjs",
                r"proxy\." + r"golang\.org",
                r"--(extra-)?index" + r"-url\s+\S*:",
                r"(?<!no-emit-)find-" + r"links[ =]\S*/",
                r"(?<![\w.])/(work|opt/wheels" + r"|home/\w+|Users/\w+|root)/\w",
                r"\.\./\." + r"library",
            ]
        )
    )
    found = []
    for path in tracked_files():
        for number, line in enumerate((text_of(path) or "").splitlines(), 1):
            if hit := forbidden.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {hit.group()}")
    assert found == []


def test_the_golden_vectors_stay_where_they_are() -> None:
    shared = ROOT.parent / "shared" / "vectors"
    if not shared.is_dir():
        pytest.skip("golden vectors are not beside this checkout")
    theirs = {path.stat().st_size: path for path in shared.rglob("*.json") if path.stat().st_size > 2000}
    for path in tracked_files():
        twin = theirs.get(path.stat().st_size)
        assert twin is None or twin.read_bytes() != path.read_bytes(), path


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_every_pinned_package_has_its_hashes(path: Path) -> None:
    logical = re.sub(r"\\\n", " ", path.read_text())
    pins = [line for line in logical.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert pins
    for pin in pins:
        assert re.match(r"[A-Za-z0-9._-]+(\[[\w,-]+\])?==\S+", pin), pin
        assert "--hash=sha256:" in pin, pin
