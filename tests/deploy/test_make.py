"""Makefile and .ci/run: what can be told without installing anything anew."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "sed", "cat", "rm", "mkdir", "touch", "printf", "find")


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("make")
    if program is None:
        pytest.skip("there is no make here")
    return subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a space in its name that holds what the Makefile reads."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", *(path.name for path in ROOT.glob("requirements*.txt"))):
        shutil.copy(ROOT / name, folder / name)
    return folder


def stamp(checkout: Path, *names: str) -> None:
    made = checkout / ".venv" / ".made"
    made.mkdir(parents=True)
    (made / "for").write_text(f"{checkout}\n")
    for name in ("venv", *names):
        (made / name).touch()


def test_a_machine_with_an_old_python_only_gets_a_sentence(checkout: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (programs / tool).symlink_to(found)
    old = programs / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo Python 3.9.2 && exit\nexit 1\n')
    old.chmod(0o755)
    done = make(checkout, "install-run", PATH=str(programs))
    assert done.returncode != 0
    assert "odf-node needs Python 3.11, 3.12, 3.13 or 3.14, and 'python3' is Python 3.9.2" in done.stderr


@pytest.mark.parametrize(("target", "stamps"), [("install-run", ["run"]), ("install", ["dev"])])
def test_what_is_installed_is_not_installed_again(checkout: Path, target: str, stamps: list[str]) -> None:
    stamp(checkout, *stamps, "project")
    done = make(checkout, "--question", target, PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stdout + done.stderr


def test_changed_pins_are_installed(checkout: Path) -> None:
    stamp(checkout, "dev", "project")
    os.utime(checkout / "requirements-dev.txt", (2**33, 2**33))
    for target in ("install", "install-run"):
        done = make(checkout, "--dry-run", target, PATH=os.environ["PATH"])
        assert "--require-hashes -r requirements-dev.txt" in done.stdout


def test_a_copied_checkout_starts_anew(checkout: Path, tmp_path: Path) -> None:
    stamp(checkout, "dev", "project")
    copy = tmp_path / "copy"
    shutil.copytree(checkout, copy)
    assert make(copy, "--question", "install", PATH=os.environ["PATH"]).returncode == 1
    assert make(checkout, "--question", "install", PATH=os.environ["PATH"]).returncode == 0


def test_run_needs_the_runtime_only(checkout: Path) -> None:
    planned = make(checkout, "--dry-run", "run", PATH=os.environ["PATH"]).stdout
    assert "-r requirements.txt" in planned
    assert "requirements-dev.txt" not in planned
    assert "odf serve --embedded" in planned


def test_ci_runs_linters_and_tests_and_stops_at_the_first_failure(tmp_path: Path) -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    assert "set -euo pipefail" in script.read_text()
    copy = tmp_path / "x" / ".ci"
    copy.mkdir(parents=True)
    shutil.copy(script, copy / "run")
    for failing in ("lint", "test"):
        rules = "".join(f"{name}:\n\t@echo {name} $(ARGS); {'exit 5' if name == failing else 'true'}\n"
                        for name in ("lint", "test"))  # fmt: skip
        (tmp_path / "x" / "Makefile").write_text(f".PHONY: lint test\n{rules}")
        done = subprocess.run(
            [str(copy / "run"), "-k", "one"],
            capture_output=True,
            text=True,
            check=False,
            env=_without_make(),
        )
        assert done.returncode != 0
        assert done.stdout.splitlines() == ["lint", "test -k one"][: 1 + (failing == "test")]


def _without_make() -> dict[str, str]:
    """The environment as a shell has it, also where these tests were themselves started by make."""
    ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES", "ARGS"}
    return {name: value for name, value in os.environ.items() if name not in ours}
