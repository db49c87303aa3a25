"""Findings about steps that were not replayed."""

from collections.abc import Sequence

from odf_core.transform.derivation import RecordedStep
from odf_core.transform.errors import EngineNotInstalled
from odf_core.verify.findings import Finding, Severity


def cut(step: RecordedStep, code: str, reason: str, about: object = None) -> Finding:
    """A step that was not replayed."""
    return Finding(
        code,
        Severity.ERROR,
        f"Block {step.block.hash} was not replayed: {reason}",
        () if about is None else (str(about),),
        str(step.block.hash),
    )


def not_replayed(error: EngineNotInstalled, steps: Sequence[RecordedStep]) -> Finding:
    """One warning for all steps whose engine is not here."""
    first, last = steps[0].block.hash, steps[-1].block.hash
    return Finding(
        error.code,
        Severity.WARNING,
        f"{len(steps)} steps from block {first} to {last} were not replayed: {error.message}",
        error.objects,
        str(first),
        {"steps": len(steps), "first": str(first), "last": str(last), **error.extras},
    )
