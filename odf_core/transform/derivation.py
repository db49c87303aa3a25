"""A derivative chain as a sequence of steps: what held before each, and which query made the one before."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from odf_core.chain import Projection
from odf_core.metadata import ExecuteTransform, StoredBlock, TransformSql


@dataclass(slots=True)
class Derivation:
    """The state of a derivative dataset; `evaluated` is the query of its last step."""

    state: Projection = field(default_factory=Projection)
    evaluated: TransformSql | None = None

    @classmethod
    def of(cls, blocks: Iterable[StoredBlock]) -> "Derivation":
        """What `blocks` tell, oldest first."""
        derivation = cls()
        for block in blocks:
            derivation.feed(block)
        return derivation

    def feed(self, block: StoredBlock) -> None:
        """Takes in the next block."""
        if isinstance(block.block.event, ExecuteTransform) and self.state.transform is not None:
            self.evaluated = self.state.transform.transform
        self.state.feed(block)

    @property
    def changed_since(self) -> TransformSql | None:
        """The query of the last step where the next one has another."""
        present = self.state.transform
        if self.evaluated is None or present is None or self.evaluated == present.transform:
            return None
        return self.evaluated


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """A step of a chain: its block, and what held before it."""

    block: StoredBlock
    event: ExecuteTransform
    before: Projection
    changed_since: TransformSql | None


def recorded_steps(blocks: Iterable[StoredBlock]) -> Iterator[RecordedStep]:
    """The steps of a chain, oldest first."""
    derivation = Derivation()
    for block in blocks:
        event = block.block.event
        if isinstance(event, ExecuteTransform):
            before = derivation.state.copy()
            yield RecordedStep(block, event, before, derivation.changed_since)
        derivation.feed(block)
