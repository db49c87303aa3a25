"""How `odf verify` runs and what it says."""

import sys
from collections.abc import Sequence
from typing import Any

from app.cli import outcome, state
from app.cli.output import OutputFormat, write_json, write_yaml
from odf_core.verify import Progress, VerificationReport, VerifyOptions
from odf_core.workspace import LocalDataset
from odf_core.workspace.verification import verify_dataset


def verify_datasets(datasets: Sequence[LocalDataset], options: VerifyOptions, form: OutputFormat) -> int:
    """Verify each dataset and print what was found; the exit code: that of wrong bytes for any error."""
    reports: list[dict[str, Any]] = []
    failed = False
    for dataset in datasets:
        watch = _Line(str(dataset.alias))
        report = verify_dataset(dataset, options, watch.show)
        watch.clear()
        failed |= not report.ok
        if form is OutputFormat.TABLE:
            sys.stdout.write("\n".join(_lines(dataset, report)) + "\n")
        reports.append(_facts(dataset, report))
    if form is not OutputFormat.TABLE:
        (write_json if form is OutputFormat.JSON else write_yaml)(reports)
    return outcome.EXIT_CODES["integrity"] if failed else outcome.OK


def _facts(dataset: LocalDataset, report: VerificationReport) -> dict[str, Any]:
    return {
        "dataset": str(dataset.alias),
        "datasetId": str(dataset.id),
        **report.summary.to_json(),
        "findings": [finding.to_json() for finding in report.findings],
    }


def _lines(dataset: LocalDataset, report: VerificationReport) -> list[str]:
    summary = report.summary
    verdict = "valid" if report.ok else f"{summary.errors} errors"
    lines = [f"{dataset.alias}: {verdict} ({summary.blocks} blocks, {summary.objects} objects)"]
    for finding in report.findings:
        lines.append(f"  {finding.severity}: {finding.message} [{finding.code}]")
        lines += [f"    object: {item}" for item in finding.objects if item not in finding.message]
    return lines


class _Line:
    """One line on a terminal that says how far a dataset is."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shows = sys.stderr.isatty() and not state.current.quiet

    def show(self, progress: Progress) -> None:
        if self._shows and (progress.done % 50 == 0 or progress.done == progress.total):
            total = f" of {progress.total}" if progress.total is not None else ""
            sys.stderr.write(f"\r\x1b[K{self._name}: {progress.phase} {progress.done}{total}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shows:
            sys.stderr.write("\r\x1b[K")
