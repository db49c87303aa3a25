"""docs/cli.md says what the command line says."""

import re

from app.cli.outcome import EXIT_CODES, INTERRUPTED, OK, USAGE
from app.cli.reference import PAGE, page_with, reference
from tests.cli.conftest import Odf


def test_the_page_has_every_command_as_it_is() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with(page, reference()), "run: .venv/bin/python -m app.cli.reference"


def test_the_page_has_every_exit_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\d+) \| `?(\w*)`? ?\|", page, re.MULTILINE))
    families = {str(code): family for family, code in EXIT_CODES.items()}
    assert rows == families | {str(code): "" for code in (OK, USAGE, INTERRUPTED)}


def test_every_command_has_help(odf: Odf) -> None:
    for name in re.findall(r"^### `odf ([a-z -]+[a-z])", reference(), re.MULTILINE):
        ran = odf(*name.split(), "--help")
        assert ran.code == 0, name
        assert "Usage: odf" in ran.text
