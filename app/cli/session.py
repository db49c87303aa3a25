"""What the commands that work with datasets share: the workspace, transfer options, the watcher."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.cli import state
from odf_core.workspace.workspace import Workspace

if TYPE_CHECKING:
    from app.cli.update_progress import UpdateWatch
    from odf_core.transfer.client import DialectName, Progress, TransferOptions


def find_workspace() -> Workspace:
    """The workspace of the current folder. Raises `WorkspaceNotFound`."""
    return Workspace.find()


def transfer_options(
    *, dialect: "DialectName | None" = None, parallelism: int | None = None
) -> "TransferOptions":
    """The options of the library, with what the command line says."""
    from odf_core.transfer.client.options import DialectName, TransferOptions

    given = {} if parallelism is None else {"parallelism": parallelism}
    return TransferOptions(dialect=dialect or DialectName.DEPLOYED, **given)


@contextmanager
def watching() -> "Iterator[Progress]":
    """A watcher that fits where standard error goes."""
    from odf_core.transfer.client.progress import SILENT

    if state.current.quiet:
        yield SILENT
        return
    from app.cli.progress import Bars, Lines

    with Bars() if sys.stderr.isatty() else Lines() as progress:
        yield progress


@contextmanager
def watching_updates() -> "Iterator[UpdateWatch]":
    """As `watching`, of several datasets."""
    from app.cli.update_progress import UpdateBars, UpdateLines, UpdateWatch

    if state.current.quiet:
        yield UpdateWatch()
        return
    with UpdateBars() if sys.stderr.isatty() else UpdateLines() as watch:
        yield watch
