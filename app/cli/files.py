"""Files that a command is given: `-` is standard input; everything is read within its bound."""

import sys
from pathlib import Path
from typing import Annotated, BinaryIO, ClassVar

import typer

from odf_core.errors import InvalidInput, LimitExceeded

STDIN = "-"

File = Annotated[str, typer.Argument(help="A file, or - for standard input.", metavar="FILE")]


class FileUnreadable(InvalidInput):
    """A file that a command was given is missing or cannot be read."""

    code: ClassVar[str] = "file_unreadable"


class FileTooLarge(LimitExceeded):
    """A file that a command was given is longer than its kind may be."""

    code: ClassVar[str] = "file_too_large"


def open_file(name: str) -> BinaryIO:
    """The file for reading; the caller closes it. Raises `FileUnreadable`."""
    if name == STDIN:
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise FileUnreadable(f"{name} cannot be read: {error.strerror}.", objects=[name]) from error


def read_file(name: str, most_bytes: int) -> bytes:
    """The whole file. Raises `FileUnreadable`, `FileTooLarge`."""
    try:
        with open_file(name) as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise FileUnreadable(f"{name} cannot be read: {error.strerror}.", objects=[name]) from error
    if len(data) > most_bytes:
        raise FileTooLarge(f"{name} has more than {most_bytes} bytes.", objects=[name])
    return data
