"""Verification of datasets; what is found is a value, never an exception (style.md)."""

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
