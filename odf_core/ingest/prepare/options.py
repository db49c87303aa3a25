"""Bounds on what a prepare step may make, and the rules it runs under."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

from odf_core.ingest.fetch.policy import FetchPolicy
from odf_core.limits import GiB, KiB, MiB


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """Bounds of each prepare step. Sizes are bytes, times are seconds.

    `max_ratio` bounds how much larger compressed input may become (checked past `ratio_free_bytes`);
    `max_directory_bytes` the list of entries that a zip file begins with in memory.
    """

    max_steps: int = 16
    max_expanded_bytes: int = 16 * GiB
    max_ratio: int = 500
    ratio_free_bytes: int = 64 * MiB
    max_directory_bytes: int = 16 * MiB
    pipe_timeout: float = 3600.0
    pipe_stderr_bytes: int = 4 * KiB
    chunk_bytes: int = 256 * KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareContext:
    """Where and under which rules prepare steps run.

    New files are made below `workdir`, which exists and belongs to this ingest. A command sees of
    `environment` what the policy lets manifests read, and the names in `pipe.PASSED` besides.
    """

    workdir: Path
    policy: FetchPolicy
    options: PrepareOptions = field(default_factory=PrepareOptions)
    environment: Mapping[str, str] = field(default_factory=dict)

    def new_path(self) -> Path:
        """A path below `workdir` where nothing is yet."""
        return self.workdir / f"prepared-{token_hex(8)}"
