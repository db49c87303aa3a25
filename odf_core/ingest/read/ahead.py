"""Reading one step ahead of the work on what was read."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
_END = object()


def one_ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The items, the next of which is made in another thread meanwhile. Ended early, it ends `items`."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="odf-reading") as pool:
        try:
            pending = pool.submit(next, items, _END)
            while (item := pending.result()) is not _END:
                pending = pool.submit(next, items, _END)
                yield item  # type: ignore[misc]
        finally:
            pool.submit(items.close).result()
