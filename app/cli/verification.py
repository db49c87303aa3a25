"""How `odf verify` runs and what it says."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from app.cli import outcome, state
from app.cli.describe import find_block
from app.cli.engine import choose_engine
from app.cli.output import OutputFormat, write_json, write_yaml
from odf_core.errors import InvalidInput
from odf_core.identity import Multihash
from odf_core.metadata import StoredBlock, TransformSql
from odf_core.verify import (
    Finding,
    Progress,
    ReplayOptions,
    ReplayReport,
    Severity,
    VerificationReport,
    VerifyOptions,
)
from odf_core.workspace import LocalDataset, Workspace
from odf_core.workspace.transforms import ChooseEngine
from odf_core.workspace.verification import DatasetVerified, VerificationOptions, Verifications

_SHOWN_VALUE = 60
_NOT_REPLAYED = {"engine_not_installed": "invalid_input", "input_not_verified": "not_found"}
"""Where nothing is wrong, but something was not looked at: the family whose exit code tells why."""


class RangeNeedsOneDataset(InvalidInput):
    """`--from` and `--to` name blocks of one dataset."""

    code: ClassVar[str] = "range_needs_one_dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of the command; `insists`: a replay was asked for, not only allowed."""

    integrity: bool = True
    replay: bool = True
    insists: bool = False
    recursive: bool = False
    first: str | None = None
    last: str | None = None
    engine: str | None = None
    sizes_only: bool = False
    logical: bool = True


def verify_datasets(
    workspace: Workspace, datasets: Sequence[LocalDataset], asked: Asked, form: OutputFormat
) -> int:
    """Verify each dataset and print what was found; the exit code tells the worst finding."""
    line = _Line()
    run = Verifications(workspace, _engines(asked.engine), line.show)
    facts: list[dict[str, Any]] = []
    codes = {outcome.OK}
    for verified in run.run(datasets, _options(datasets, asked)):
        line.clear()
        codes.add(_exit_code(verified))
        if form is OutputFormat.TABLE:
            sys.stdout.write("\n".join(_lines(verified)) + "\n")
        facts.append(_facts(verified))
    if form is not OutputFormat.TABLE:
        (write_json if form is OutputFormat.JSON else write_yaml)(facts)
    wrong = outcome.EXIT_CODES["integrity"]
    return wrong if wrong in codes else max(codes)


def _engines(text: str | None) -> ChooseEngine:
    """The engine that each query names, or that of `NAME[@VERSION]` for all. Raises `EngineNotInstalled`."""
    if text is None:
        return choose_engine
    name, _, version = text.partition("@")
    engine = choose_engine(TransformSql(engine=name, version=version or None))
    return lambda transform: engine


def _options(datasets: Sequence[LocalDataset], asked: Asked) -> VerificationOptions:
    """Raises `RangeNeedsOneDataset`, `BlockNotFound`."""
    if asked.first is None and asked.last is None:
        first = last = None
    elif len(datasets) != 1:
        raise RangeNeedsOneDataset("Name one dataset beside --from and --to, which are blocks of it.")
    else:
        first, last = (_block(datasets[0], text) for text in (asked.first, asked.last))
    integrity = VerifyOptions(
        head=_hash(last),
        tail=None if first is None else first.block.prev_block_hash,
        check_size_only=asked.sizes_only,
        logical_hash=asked.logical,
    )
    return VerificationOptions(
        integrity=integrity if asked.integrity else None,
        replay=_replay_options(first, last, asked) if asked.replay else None,
        recursive=asked.recursive,
        replay_if_possible=not asked.insists,
    )


def _replay_options(first: StoredBlock | None, last: StoredBlock | None, asked: Asked) -> ReplayOptions:
    """Another engine than that of the chain may not read its checkpoints: it goes on from its own."""
    return ReplayOptions(first=_hash(first), last=_hash(last), own_checkpoints=asked.engine is not None)


def _block(dataset: LocalDataset, text: str | None) -> StoredBlock | None:
    return None if text is None else find_block(dataset.folder, text)


def _hash(block: StoredBlock | None) -> Multihash | None:
    return None if block is None else block.hash


def _exit_code(verified: DatasetVerified) -> int:
    if verified.ok:
        return outcome.OK
    findings = verified.all_findings
    families = {
        "integrity" if item.severity is Severity.ERROR else _NOT_REPLAYED.get(item.code, "conflict")
        for item in findings
    }
    if "integrity" in families or not families:
        return outcome.EXIT_CODES["integrity"]
    return max(outcome.EXIT_CODES[family] for family in families)


def _facts(verified: DatasetVerified) -> dict[str, Any]:
    integrity, replay = verified.integrity, verified.replay
    facts: dict[str, Any] = {
        "dataset": str(verified.dataset.alias),
        "datasetId": str(verified.dataset.id),
        "head": None if verified.head is None else str(verified.head),
    }
    if integrity is not None:
        facts.update(integrity.summary.to_json())
    return {
        **facts,
        "ok": verified.ok,
        "replay": None if replay is None else replay.summary.to_json(),
        "remark": verified.remark,
        "findings": [finding.to_json() for finding in verified.all_findings],
    }


def _lines(verified: DatasetVerified) -> list[str]:
    parts = [_integrity(report) for report in (verified.integrity,) if report is not None]
    parts += [_replay(report) for report in (verified.replay,) if report is not None]
    parts += [verified.remark] if verified.remark is not None else []
    looked_at = f" ({'; '.join(parts)})" if parts else ""
    lines = [f"{verified.dataset.alias}: {_verdict(verified)}{looked_at}"]
    for finding in verified.all_findings:
        lines.append(f"  {finding.severity}: {finding.message} [{finding.code}]")
        lines += [f"    object: {item}" for item in finding.objects if item not in finding.message]
        lines += _row_lines(finding)
    return lines


def _verdict(verified: DatasetVerified) -> str:
    errors = sum(finding.severity is Severity.ERROR for finding in verified.all_findings)
    if verified.integrity is None and verified.replay is None and not verified.all_findings:
        return "not computed from others, nothing to replay"
    if verified.ok:
        return "valid"
    return f"{errors} errors" if errors else "not verified completely"


def _integrity(report: VerificationReport) -> str:
    return f"{report.summary.blocks} blocks, {report.summary.objects} objects"


def _replay(report: ReplayReport) -> str:
    summary = report.summary
    engines = ", ".join(f"{item.name} {item.version}" for item in sorted(summary.engines))
    steps = f"{summary.replayed} of {summary.steps} steps replayed"
    return f"{steps} by {engines}" if engines else steps


def _row_lines(finding: Finding) -> list[str]:
    """The first rows that differ, only by the columns that do."""
    lines = []
    for item in finding.details.get("rows", ()):
        recorded, recomputed = item["recorded"], item["recomputed"]
        if recorded is None or recomputed is None:
            kind, values = ("recomputed", recomputed) if recorded is None else ("recorded", recorded)
            shown = ", ".join(f"{name} {_shown(value)}" for name, value in values.items())
            lines.append(f"    row {item['row']}: only {kind}: {shown}")
            continue
        names = [name for name in recorded if repr(recorded[name]) != repr(recomputed[name])]
        shown = "; ".join(
            f"{name} {_shown(recorded[name])}, not {_shown(recomputed[name])}" for name in names
        )
        lines.append(f"    row {item['row']}: {shown}")
    return lines


def _shown(value: object) -> str:
    text = "null" if value is None else str(value) or "''"
    return text if len(text) <= _SHOWN_VALUE else text[:_SHOWN_VALUE] + "…"


class _Line:
    """One line on a terminal that says how far a dataset is."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty() and not state.current.quiet

    def show(self, dataset: LocalDataset, progress: Progress) -> None:
        is_told = progress.phase == "steps" or progress.done % 50 == 0 or progress.done == progress.total
        if self._shows and is_told:
            total = f" of {progress.total}" if progress.total is not None else ""
            sys.stderr.write(f"\r\x1b[K{dataset.alias}: {progress.phase} {progress.done}{total}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shows:
            sys.stderr.write("\r\x1b[K")
