"""What a verification found, as values."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odf_core.errors import LimitExceeded, OdfError
from odf_core.identity import Multihash


class Severity(enum.StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """Something is not what its hash, its block or its chain says."""

    WARNING = "warning"
    """Something could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    `code` is stable: that of the error which a reader of the object would meet (`object_not_found`,
    `object_hash_mismatch`, `slice_offsets_mismatch` …) or one of this package (`head_missing`,
    `chain_incomplete`, `not_reproducible`). `objects` are the hashes it is about; `block` is the block whose
    word is broken. `details` are JSON-compatible facts for programs; a replay tells here what differs.
    """

    code: str
    severity: Severity
    message: str
    objects: tuple[str, ...] = ()
    block: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of_error(cls, error: OdfError, *, block: Multihash | None = None, about: object = None) -> "Finding":
        """The error as a finding; what merely passes a limit is a warning: nothing is known of it."""
        severity = Severity.WARNING if isinstance(error, LimitExceeded) else Severity.ERROR
        objects = error.objects or (() if about is None else (str(about),))
        return cls(error.code, severity, error.message, objects, None if block is None else str(block))

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object; `details` only where there are some."""
        facts = {
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "objects": list(self.objects),
            "block": self.block,
        }
        return {**facts, "details": dict(self.details)} if self.details else facts


@dataclass(slots=True)
class Tally:
    """How many findings there were, by severity."""

    errors: int = field(default=0, kw_only=True)
    warnings: int = field(default=0, kw_only=True)

    def count(self, finding: Finding) -> None:
        """Takes one in."""
        if finding.severity is Severity.ERROR:
            self.errors += 1
        else:
            self.warnings += 1


@dataclass(slots=True)
class VerificationSummary(Tally):
    """What was looked at: blocks of the chain, objects and their bytes; and what came of it.

    `whole_chain` says that the walk reached the Seed, and that every rule was applied on the way back.
    """

    head: Multihash | None = None
    blocks: int = 0
    objects: int = 0
    bytes: int = 0
    whole_chain: bool = False

    @property
    def ok(self) -> bool:
        """No error was found."""
        return self.errors == 0

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object."""
        return {
            "ok": self.ok,
            "head": None if self.head is None else str(self.head),
            "blocks": self.blocks,
            "objects": self.objects,
            "bytes": self.bytes,
            "errors": self.errors,
            "warnings": self.warnings,
            "wholeChain": self.whole_chain,
        }


@dataclass(slots=True)
class VerificationReport:
    """All findings of one dataset, and the summary."""

    findings: list[Finding] = field(default_factory=list)
    summary: VerificationSummary = field(default_factory=VerificationSummary)

    @property
    def ok(self) -> bool:
        return self.summary.ok


@dataclass(frozen=True, slots=True, order=True)
class EngineUsed:
    """An engine that evaluated steps; `version` is its identity."""

    name: str
    version: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object."""
        return {"name": self.name, "version": self.version}


@dataclass(slots=True)
class ReplaySummary(Tally):
    """What was evaluated again: of the `steps` in the range from `first` to `last` (None: from the Seed, to
    the head; both included) so many were `replayed`, by these engines."""

    head: Multihash | None = None
    first: Multihash | None = None
    last: Multihash | None = None
    steps: int = 0
    replayed: int = 0
    looked_at: int = 0
    engines: set[EngineUsed] = field(default_factory=set)

    @property
    def complete(self) -> bool:
        """Every step was replayed, whatever came of it."""
        return self.replayed == self.steps

    @property
    def ok(self) -> bool:
        """Every step was replayed and came out as recorded; never true of a step that was left out."""
        return self.errors == 0 and self.complete

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object."""
        return {
            "ok": self.ok,
            "complete": self.complete,
            "head": None if self.head is None else str(self.head),
            "from": None if self.first is None else str(self.first),
            "to": None if self.last is None else str(self.last),
            "steps": self.steps,
            "replayed": self.replayed,
            "errors": self.errors,
            "warnings": self.warnings,
            "engines": [engine.to_json() for engine in sorted(self.engines)],
        }


@dataclass(slots=True)
class ReplayReport:
    """All findings of the replay of one dataset, and the summary."""

    findings: list[Finding] = field(default_factory=list)
    summary: ReplaySummary = field(default_factory=ReplaySummary)

    @property
    def ok(self) -> bool:
        return self.summary.ok
