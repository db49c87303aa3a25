"""The cases of tampering: every kind of lie with what is known of it, and from which chains it is made.

One generator for all who judge: the library, the command, and the job of a node. With ODF_TEST_FULL=1 every
kind is tried on both chains, and every judge sees every case.
"""

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from tests.replay import further_lies as further
from tests.replay import lies
from tests.replay.lies import Lie
from tests.replay.tampering import Copy, World

FULL = bool(os.environ.get("ODF_TEST_FULL"))
_BOTH = ("stateless", "windowed")
_ONE = _BOTH if FULL else _BOTH[:1]


@dataclass(frozen=True)
class Kind:
    """A lie. `is_local`: the other steps stay true. `met`: what integrity finds by itself. `refused`:
    what a node refuses it with when it is pushed, though no rows are hashed. `is_damage`: no chain says it,
    it is done to a stored file."""

    lie: Lie
    is_local: bool = True
    met: str = ""
    refused: str | None = None
    is_damage: bool = False
    chains: tuple[str, ...] = _ONE
    seeds: int = 1

    @property
    def name(self) -> str:
        return self.lie.__name__


KINDS = (
    Kind(lies.changed_value, chains=_BOTH, seeds=4),
    Kind(lies.null_moved, chains=_BOTH, seeds=4),
    Kind(lies.forged_file, met="logical_hash_mismatch", chains=_BOTH, seeds=4),
    Kind(lies.dropped_row, chains=_BOTH, seeds=4),
    Kind(lies.swapped_pair, chains=_BOTH, seeds=4),
    Kind(lies.forged_watermark, chains=_BOTH, seeds=4),
    Kind(lies.wrong_interval, is_local=False, chains=_BOTH, seeds=4),
    Kind(lies.another_query, is_local=False, chains=_BOTH, seeds=4),
    Kind(further.added_row),
    Kind(further.withheld_data),
    Kind(further.left_out_step),
    Kind(further.invented_step),
    Kind(further.exchanged_slices, is_local=False),
    Kind(further.shifted_offsets),
    Kind(further.shifted_in_the_file, met="slice_offsets_mismatch", refused="slice_offsets_mismatch"),
    Kind(further.reordered_correction, chains=("windowed",), seeds=2),
    Kind(further.changed_operation),
    Kind(further.other_system_time),
    Kind(further.watermark_back, seeds=2),
    Kind(further.exchanged_checkpoint, is_local=False, chains=_BOTH),
    Kind(further.unnamed_checkpoint, is_local=False),
    Kind(further.another_alias, is_local=False),
    Kind(
        further.another_schema,
        is_local=False,
        met="slice_schema_mismatch",
        refused="slice_schema_mismatch",
        chains=("stateless",),
    ),
    Kind(further.extra_column, met="slice_schema_mismatch", refused="slice_schema_mismatch"),
    Kind(further.other_unit, met="slice_schema_mismatch", refused="slice_schema_mismatch"),
    Kind(
        further.dictionary_column,
        met="slice_schema_mismatch unsupported_logical_hash_type",
        refused="slice_schema_mismatch",
    ),
    Kind(further.data_not_computed, is_local=False),
    Kind(further.false_name, met="object_hash_mismatch", is_damage=True),
)
DONE = frozenset(kind.name for kind in KINDS[:8])
"""Those that the project's goal names."""


@dataclass(frozen=True)
class Case:
    """One lie about one chain."""

    kind: Kind
    chain: str
    seed: int

    def __str__(self) -> str:
        return f"{self.chain}-{self.kind.name}-{self.seed}"

    def tell(self, world: World) -> tuple[Copy, int]:
        """A copy of the chain that lies, and the place of the block that does; not made into a chain yet."""
        copy = world.copy(self.chain)
        return copy, self.tell_in(copy, world)

    def tell_in(self, copy: Copy, world: World) -> int:
        """The same in a copy that is there."""
        random_ = random.Random(f"{self.chain} {self.kind.name} {self.seed}")
        return self.kind.lie(copy, random_, world.chain(world.datasets["root"].id))


def _all() -> Iterator[Case]:
    for kind in KINDS:
        for chain in kind.chains:
            for seed in range(kind.seeds):
                yield Case(kind, chain, seed)


CASES = tuple(_all())


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    """The test for each of the cases, which it is given as `case`."""
    return pytest.mark.parametrize("case", cases, ids=str)


def one_of_each(chain: str = "stateless") -> list[Case]:
    """One case of each kind, about this chain where the kind knows it."""
    found: dict[str, Case] = {}
    for case in CASES:
        if case.kind.name not in found or (case.chain == chain and found[case.kind.name].chain != chain):
            found[case.kind.name] = case
    return list(found.values())
