"""Chains of inputs, as planning reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from odf_core.chain import InvalidInterval, Projection
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import StoredBlock


@dataclass(slots=True)
class InputChain:
    """All blocks of an input, oldest first; `name` is its alias here, for messages and queries."""

    dataset_id: DatasetId
    name: str
    blocks: Sequence[StoredBlock]
    _places: dict[Multihash, int] = field(init=False, repr=False)
    _known: tuple[int, Projection] = field(init=False, repr=False, default_factory=lambda: (0, Projection()))
    """After how many blocks which state was asked for last: steps ask in the order of the chain."""

    def __post_init__(self) -> None:
        self._places = {block.hash: number for number, block in enumerate(self.blocks)}

    def until(self, block: Multihash | None) -> Projection:
        """The state at a block, of nothing for None; the caller may feed it. Raises `InvalidInterval`."""
        count = self._after(block)
        known, state = self._known
        state = state.copy() if known <= count else Projection()
        for item in self.blocks[known if known <= count else 0 : count]:
            state.feed(item)
        self._known = (count, state.copy())
        return state

    def between(self, after: Multihash | None, last: Multihash | None) -> Sequence[StoredBlock]:
        """The blocks after `after` up to `last`, to the head where that is None. Raises `InvalidInterval`."""
        end = len(self.blocks) if last is None else self._after(last)
        start = self._after(after)
        if end < start and last is not None and after is not None:
            raise InvalidInterval(last, after)
        return self.blocks[start:end]

    def _after(self, block: Multihash | None) -> int:
        if block is None:
            return 0
        place = self._places.get(block)
        if place is None:
            raise InvalidInterval(self.blocks[-1].hash if self.blocks else block, block)
        return place + 1
