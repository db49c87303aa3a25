"""How DataFusion is run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataFusionOptions:
    """Bounds of one query: `seconds` until it is ended, `memory_bytes` of address space of its process.

    A step of a derivative dataset has `step_seconds`.
    """

    seconds: float = 60.0
    memory_bytes: int = 4 << 30
    step_seconds: float = 3600.0
