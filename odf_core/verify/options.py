"""What a verification does, and how it tells how far it is."""

import enum
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from odf_core.identity import Multihash
from odf_core.limits import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """How thorough a verification is.

    The chain is always walked to its Seed and every rule applied; the options say which objects are read.
    `head` is the block to begin at (default: the dataset's head). Of the objects, those of blocks after
    `tail` are checked, and of these only those of the `recent` last blocks, if given. With
    `check_size_only` objects are not read, only looked for; `logical_hash` hashes the records of slices
    as well, which the physical hash does not make superfluous (data.md 1.9). `parallelism` is how many
    objects are read at once.
    """

    head: Multihash | None = None
    tail: Multihash | None = None
    recent: int | None = None
    check_size_only: bool = False
    logical_hash: bool = True
    parallelism: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What of a chain is replayed: the steps from the block `first` to the block `last`, both included (None:
    from the Seed, to the head), `parallelism` at once. Of rows that differ the first `rows` are told.

    With `own_checkpoints` each step takes what the one before it has left just now, not what the chain has:
    so another version of an engine is tried, one step after the other from the first step of the chain on.
    It is done so in any case where the chain has checkpoints of another version than the engine's, or of
    none: they cannot be compared, and what was computed from them proves nothing.
    """

    first: Multihash | None = None
    last: Multihash | None = None
    parallelism: int = field(default_factory=lambda: min(2, os.cpu_count() or 1))
    rows: int = 5
    own_checkpoints: bool = False
    limits: Limits = field(default_factory=Limits)


class Phase(enum.StrEnum):
    """The parts of a verification, in their order."""

    BLOCKS = "blocks"
    RULES = "rules"
    OBJECTS = "objects"
    REPLAY = "steps"


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` items of a phase (total None while it is not known), and `bytes` read so far."""

    phase: Phase
    done: int
    total: int | None
    bytes: int = 0


ProgressCallback = Callable[[Progress], None]
"""Called in the thread that iterates over the findings, after every item."""
