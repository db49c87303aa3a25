"""Foreign bytes into a new file, never more than allowed, and no file left over when it fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odf_core.ingest.errors import SourceTooLarge
from odf_core.ingest.fetch.values import FetchContext


class Spool:
    """A file that grows up to `max_bytes` of the context's options."""

    def __init__(self, path: Path, source: str, context: FetchContext) -> None:
        self.path = path
        self.size = 0
        self.total: int | None = None
        self._source = source
        self._context = context
        self._file = path.open("xb")

    def expect(self, total: int) -> None:
        """The source announces its size. Raises `SourceTooLarge`."""
        self.total = total
        self._check(total)

    def write(self, data: bytes) -> None:
        """Raises `SourceTooLarge`, and whatever the watcher of the progress raises."""
        self._check(self.size + len(data))
        self._file.write(data)
        self.size += len(data)
        self._context.progress(self.size, self.total)

    def close(self) -> None:
        """All is there: hand the bytes to the system."""
        self._file.close()

    def _check(self, size: int) -> None:
        limit = self._context.options.max_bytes
        if size > limit:
            raise SourceTooLarge(
                f"{self._source} sends {'at least ' if self.total is None else ''}{size} bytes, "
                f"more than the limit of {limit}.",
                extras={"limit": limit},
            )


@contextmanager
def spooled(source: str, context: FetchContext) -> Iterator[Spool]:
    """A spool in a new file of the context; removed when the block raises."""
    spool = Spool(context.new_path(), source, context)
    try:
        yield spool
    except BaseException:
        spool.close()
        spool.path.unlink(missing_ok=True)
        raise
    spool.close()
