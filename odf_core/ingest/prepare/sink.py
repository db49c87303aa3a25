"""What a step makes: a new file within bounds, and none left over when the step fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from odf_core.ingest.errors import PreparedTooLarge
from odf_core.ingest.prepare.options import PrepareContext


class Sink:
    """A file that grows up to `max_expanded_bytes`, and for compressed input up to `max_ratio`."""

    def __init__(self, path: Path, what: str, context: PrepareContext) -> None:
        self.path = path
        self.size = 0
        self._what = what
        self._options = context.options
        self._file = path.open("xb")

    def write(self, data: bytes, compressed: Callable[[], int] | None = None) -> None:
        """Adds `data`; `compressed` tells how much input it came of so far. Raises `PreparedTooLarge`."""
        self.size += len(data)
        options = self._options
        if self.size > options.max_expanded_bytes:
            raise PreparedTooLarge(
                f"{self._what} makes more than the limit of {options.max_expanded_bytes} bytes.",
                extras={"limit": options.max_expanded_bytes},
            )
        if (
            compressed is not None
            and self.size > options.ratio_free_bytes
            and self.size > compressed() * options.max_ratio
        ):
            raise PreparedTooLarge(
                f"{self._what} grows more than {options.max_ratio} times; it looks like a bomb.",
                extras={"limit": options.max_ratio},
            )
        self._file.write(data)

    def close(self) -> None:
        """All is there: hand the bytes to the system."""
        self._file.close()


@contextmanager
def sink(what: str, context: PrepareContext) -> Iterator[Sink]:
    """A sink in a new file of the context; removed when the block raises."""
    made = Sink(context.new_path(), what, context)
    try:
        yield made
    except BaseException:
        made.close()
        made.path.unlink(missing_ok=True)
        raise
    made.close()
