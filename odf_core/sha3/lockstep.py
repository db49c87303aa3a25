"""Several streams through one kernel at once, each at its own place in its own input."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from odf_core.sha3.keccak import STATE_WORDS
from odf_core.sha3.kernel import BLOCK_BYTES, Kernel

State = npt.NDArray[np.uint64]


class Feed:
    """Blocks that wait to be absorbed into one state: runs of whole blocks in memory, in their order.

    `keep` holds on to what owns that memory.
    """

    __slots__ = ("blocks", "keep", "runs", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.runs: deque[tuple[int, int]] = deque()  # address, number of blocks
        self.blocks = 0
        self.keep: list[Any] = []

    def add(self, address: int, blocks: int, owner: object) -> None:
        """Append a run that lies in the memory of `owner`."""
        self.runs.append((address, blocks))
        self.blocks += blocks
        self.keep.append(owner)


def absorb(feeds: Iterable[Feed], kernels: Sequence[Kernel]) -> None:
    """Absorb everything that `feeds` (of different states) hold; longest first, so that lanes end alike."""
    waiting = deque(sorted((feed for feed in feeds if feed.blocks), key=lambda feed: -feed.blocks))
    while waiting:
        kernel = _best(kernels, len(waiting))
        waiting = _run(kernel, waiting, leave_at=_next_width(kernels, kernel))


def _best(kernels: Sequence[Kernel], streams: int) -> Kernel:
    """The kernel that takes least time for a block of each of so many streams."""
    return min(kernels, key=lambda kernel: kernel.cost / min(kernel.width, streams))


def _next_width(kernels: Sequence[Kernel], kernel: Kernel) -> int:
    """With so few streams left another kernel is the better one; 0 where there is none."""
    fewer = range(kernel.width - 1, 0, -1)
    return next((streams for streams in fewer if _best(kernels, streams) is not kernel), 0)


def _run(kernel: Kernel, waiting: deque[Feed], leave_at: int) -> deque[Feed]:
    """Run until not more than `leave_at` streams are left, and return these."""
    lanes = [waiting.popleft() for _ in range(min(kernel.width, len(waiting)))]
    states = np.zeros((STATE_WORDS, kernel.width), np.uint64)
    data = np.zeros(kernel.width, np.uint64)
    for lane, feed in enumerate(lanes):
        states[:, lane] = feed.state
    places = list(range(len(lanes)))  # of each feed in `lanes`
    while len(lanes) > leave_at:
        steps = min(feed.runs[0][1] for feed in lanes)
        data[:] = lanes[0].runs[0][0]  # lanes that nobody uses read along with the first
        for place, feed in zip(places, lanes, strict=True):
            data[place] = feed.runs[0][0]
        kernel.absorb(states.ctypes.data, data.ctypes.data, steps)
        for index in reversed(range(len(lanes))):
            feed, place = lanes[index], places[index]
            if _advance(feed, steps):
                continue
            feed.state[:] = states[:, place]
            if waiting:
                lanes[index] = waiting.popleft()
                states[:, place] = lanes[index].state
            else:
                del lanes[index], places[index]
    for place, feed in zip(places, lanes, strict=True):
        feed.state[:] = states[:, place]
    return deque([*lanes, *waiting])


def _advance(feed: Feed, steps: int) -> bool:
    """Pass over absorbed blocks; whether some are left."""
    address, blocks = feed.runs[0]
    feed.blocks -= steps
    if blocks > steps:
        feed.runs[0] = (address + steps * BLOCK_BYTES, blocks - steps)
    else:
        feed.runs.popleft()
    return bool(feed.runs)
