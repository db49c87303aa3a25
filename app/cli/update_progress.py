"""Updates of several datasets, as a person sees them: which one, what is done to it, how many are left."""

import sys
from types import TracebackType

from odf_core.transfer.client.progress import Phase, Progress
from odf_core.workspace.pulling import PullNode, Way
from odf_core.workspace.updates import Updated

_WORDS = {
    Way.TRANSFORM: "computing",
    Way.POLL: "asking its source",
    Way.REMOTE: "pulling",
    Way.MISSING: "looking for it in the repositories",
    Way.NONE: "nothing to do",
}
_PHASES = {
    Phase.CONNECT: "connecting",
    Phase.BLOCKS: "blocks",
    Phase.OBJECTS: "objects",
    Phase.COMMIT: "committing",
}


class UpdateWatch(Progress):
    """A watcher of updates, and of the transfers in them, that shows nothing."""

    def begin(self, node: PullNode, number: int, count: int) -> None:
        """As `Watch.begin`."""

    def end(self, done: Updated) -> None:
        """As `Watch.end`."""

    def say(self, word: str) -> None:
        """What an engine does at the moment."""

    def __enter__(self) -> "UpdateWatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class UpdateBars(UpdateWatch):
    """One rich bar on standard error: datasets done, and what is done to the present one."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            SpinnerColumn(),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bars.add_task("", total=None)
        self._name = ""

    def __enter__(self) -> "UpdateBars":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def begin(self, node: PullNode, number: int, count: int) -> None:
        self._name = node.name
        self._bars.update(self._task, total=count, completed=number - 1)
        self.say(_WORDS[node.way])

    def end(self, done: Updated) -> None:
        self._bars.advance(self._task)

    def say(self, word: str) -> None:
        self._bars.update(self._task, description=f"{self._name}: {word}")

    def phase(self, phase: Phase, *, count: int = 0, size: int = 0) -> None:
        self.say(f"{_PHASES[phase]} ({count})" if count else _PHASES[phase])

    def note(self, message: str) -> None:
        self._bars.console.print(message, style="yellow", markup=False, highlight=False)


class UpdateLines(UpdateWatch):
    """A line on standard error for each of several datasets when it begins."""

    def begin(self, node: PullNode, number: int, count: int) -> None:
        if count > 1:
            sys.stderr.write(f"{number}/{count} {node.name}: {_WORDS[node.way]}\n")

    def note(self, message: str) -> None:
        sys.stderr.write(message + "\n")
