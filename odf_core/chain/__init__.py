"""Chains: what may follow what, walking, divergence, and projections of current state."""

from odf_core.chain.errors import (
    BlockRefused,
    Diverged,
    FirstBlockMustBeSeed,
    HeadIsElsewhere,
    InvalidEvent,
    InvalidInterval,
    InvalidKeyBlocks,
    NoOpEvent,
    OffsetsNotSequential,
    PrevBlockNotFound,
    SecondSeed,
    SeedOnNonEmptyChain,
    SequenceBroken,
    SystemTimeNotMonotonic,
    UnexpectedBlockHash,
    WatermarkNotMonotonic,
)
from odf_core.chain.intervals import (
    Divergence,
    ReadBlock,
    find_divergence,
    iter_back,
    require_descendant,
    walk_interval,
)
from odf_core.chain.objects import new_objects
from odf_core.chain.projection import Projection, Vocabulary
from odf_core.chain.state import KEY_EVENT_KINDS, ChainState
from odf_core.identity import ObjectKind, ObjectRef

__all__ = [
    "ChainState",
    "KEY_EVENT_KINDS",
    "Projection",
    "Vocabulary",
    "new_objects",
    "ObjectKind",
    "ObjectRef",
    "ReadBlock",
    "iter_back",
    "walk_interval",
    "find_divergence",
    "require_descendant",
    "Divergence",
    "BlockRefused",
    "SeedOnNonEmptyChain",
    "SecondSeed",
    "FirstBlockMustBeSeed",
    "SequenceBroken",
    "NoOpEvent",
    "OffsetsNotSequential",
    "InvalidEvent",
    "PrevBlockNotFound",
    "SystemTimeNotMonotonic",
    "WatermarkNotMonotonic",
    "UnexpectedBlockHash",
    "HeadIsElsewhere",
    "InvalidInterval",
    "Diverged",
    "InvalidKeyBlocks",
]
