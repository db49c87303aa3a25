"""Verifying a dataset of a workspace: its folder as the verification reads it."""

from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.verify import ProgressCallback, VerificationReport, VerifyOptions, verify_integrity
from odf_core.workspace.dataset import LocalDataset


def verify_dataset(
    dataset: LocalDataset, options: VerifyOptions | None = None, progress: ProgressCallback | None = None
) -> VerificationReport:
    """Every block, every rule, every object of a local dataset; damage is told in the report.

    Raises the errors of a disk that does not answer.
    """
    store = DatasetStore(DirectoryStore(dataset.path), "")
    return verify_integrity(store, options, progress=progress)
