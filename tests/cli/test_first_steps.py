"""What a node that has just started tells a person to type."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.first_steps import sample_command

URL = "odf+http://[::1]:8080/odf/leap-seconds"


def test_the_command_of_the_sample_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run by a shell, with a stand-in for `odf` in a folder whose name wants quoting."""
    program = tmp_path / "it's a checkout; $HOME" / "odf"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\nmkdir -p my-datasets\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "serve"])
    ran = subprocess.run(
        ["/bin/sh", "-c", sample_command(URL)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == (f"init|my-datasets|pull|{URL}|", "")


def test_a_plain_path_stays_plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "odf"
    program.touch()
    monkeypatch.setattr(sys, "argv", [str(program), "serve"])
    url = "odf+http://127.0.0.1:8080/odf/leap-seconds"
    assert sample_command(url) == f"{program} init my-datasets && cd my-datasets && {program} pull {url}"
