"""The command line in this process: `odf("list", "-o", "json")` gives the exit code and what was printed."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import run
from tests.fixtures_node import node_settings, shared_node

__all__ = ["node_settings", "odf", "shared_node"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err.splitlines()[-1])


Odf = Callable[..., Ran]


@pytest.fixture
def odf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Odf:
    """Runs commands in a folder and a home of their own."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("ODF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ODF_ENGINES_DIR", str(tmp_path / "engines"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("ODF_WORKSPACE", raising=False)
    monkeypatch.delenv("ODF_TOKEN", raising=False)

    def odf(*arguments: object) -> Ran:
        capfdbinary.readouterr()
        code = run([str(item) for item in arguments])
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out, captured.err.decode())

    return odf
