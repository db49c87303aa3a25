"""Verification of datasets; what is found is a value, never an exception (style.md)."""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.verify.attestation import Attested, attest, verification_predicate, verify_attestation
    from odf_core.verify.findings import (
        EngineUsed,
        Finding,
        ReplayReport,
        ReplaySummary,
        Severity,
        VerificationReport,
        VerificationSummary,
    )
    from odf_core.verify.integrity import IntegrityCheck, verify_integrity
    from odf_core.verify.options import Phase, Progress, ProgressCallback, ReplayOptions, VerifyOptions
    from odf_core.verify.port import VerifiableDataset

__all__ = [
    "IntegrityCheck",
    "verify_integrity",
    "VerifyOptions",
    "ReplayOptions",
    "ReplayReport",
    "ReplaySummary",
    "EngineUsed",
    "VerifiableDataset",
    "VerificationReport",
    "VerificationSummary",
    "Attested",
    "attest",
    "verification_predicate",
    "verify_attestation",
    "Finding",
    "Severity",
    "Phase",
    "Progress",
    "ProgressCallback",
]

__getattr__ = lazy_names(
    __name__,
    {
        "attestation": (
            "Attested",
            "attest",
            "verification_predicate",
            "verify_attestation",
        ),
        "findings": (
            "EngineUsed",
            "Finding",
            "ReplayReport",
            "ReplaySummary",
            "Severity",
            "VerificationReport",
            "VerificationSummary",
        ),
        "integrity": (
            "IntegrityCheck",
            "verify_integrity",
        ),
        "options": (
            "Phase",
            "Progress",
            "ProgressCallback",
            "ReplayOptions",
            "VerifyOptions",
        ),
        "port": ("VerifiableDataset",),
    },
)
