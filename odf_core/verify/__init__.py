"""Verification of datasets; what is found is a value, never an exception (style.md)."""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.verify.findings import Finding, Severity, VerificationReport, VerificationSummary
    from odf_core.verify.integrity import IntegrityCheck, verify_integrity
    from odf_core.verify.options import Phase, Progress, ProgressCallback, VerifyOptions
    from odf_core.verify.port import VerifiableDataset

__all__ = [
    "IntegrityCheck",
    "verify_integrity",
    "VerifyOptions",
    "VerifiableDataset",
    "VerificationReport",
    "VerificationSummary",
    "Finding",
    "Severity",
    "Phase",
    "Progress",
    "ProgressCallback",
]

__getattr__ = lazy_names(
    __name__,
    {
        "findings": (
            "Finding",
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
            "VerifyOptions",
        ),
        "port": ("VerifiableDataset",),
    },
)
