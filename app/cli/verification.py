"""`odf verify`."""

from collections.abc import Sequence

from app.cli.output import OutputFormat
from odf_core.workspace import LocalDataset


def verify_datasets(datasets: Sequence[LocalDataset], form: OutputFormat) -> int:
    raise AssertionError("waiting for odf_core.verify")
