"""What a process has read of the node's chains and keeps."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from anyio.lowlevel import RunVar

_Known = TypeVar("_Known")


class Remembered(Generic[_Known]):
    """What is known of each dataset, up to `most` units of `size` of all together.

    Each event loop has its own: connections and tests of one never meet what another is writing.
    """

    def __init__(self, name: str, size: Callable[[_Known], int], most: int) -> None:
        self._of_loop: RunVar[OrderedDict[int, _Known]] = RunVar(name)
        self._size = size
        self._most = most

    def get(self, dataset_pk: int) -> _Known | None:
        """What was kept last of this dataset, if it was not forgotten."""
        return self._all().get(dataset_pk)

    def keep(self, dataset_pk: int, known: _Known) -> None:
        """Those that were kept longest ago are forgotten first; this one, never."""
        items = self._all()
        items[dataset_pk] = known
        items.move_to_end(dataset_pk)
        while len(items) > 1 and sum(map(self._size, items.values())) > self._most:
            items.popitem(last=False)

    def _all(self) -> OrderedDict[int, _Known]:
        found = self._of_loop.get(None)
        if found is None:
            found = OrderedDict()
            self._of_loop.set(found)
        return found
