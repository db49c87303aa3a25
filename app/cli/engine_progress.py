"""How an installation is shown: one line with the last word, and the time, on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.cli import state


@contextmanager
def install_watch() -> Iterator[Callable[[str], None]]:
    """Gives what is told each step; elsewhere than on a terminal nothing is shown of it."""
    if not sys.stderr.isatty() or state.current.quiet:
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1))
    console = Console(stderr=True)
    with Progress(SpinnerColumn(), TimeElapsedColumn(), words, console=console, transient=True) as bars:
        task = bars.add_task("")
        yield lambda text: bars.update(task, description=text)
