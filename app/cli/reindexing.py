"""How `odf admin reindex` runs and what it says."""

import dataclasses
import sys

from app.cli import outcome, state
from app.cli.output import OutputFormat, write_json, write_yaml
from app.context import NodeContext
from app.ops.findings import ReindexReport
from app.ops.reindex import ReindexProgress, reindex


async def run_reindex(node: NodeContext, *, rehash: bool) -> ReindexReport:
    """Index the bucket of the node."""
    return await reindex(
        node.store,
        node.engine,
        default_account=node.settings.accounts.default_account,
        rehash=rehash,
        limits=node.settings.bounds,
        progress=None if state.current.quiet else _tell_progress,
    )


def _tell_progress(progress: ReindexProgress) -> None:
    if progress.datasets % 100 == 0:
        sys.stderr.write(f"{progress.datasets} datasets, {progress.findings} findings\n")


def tell_reindex(report: ReindexReport, form: OutputFormat) -> int:
    """Print the report; the exit code: that of wrong bytes where something was found."""
    if form is OutputFormat.TABLE:
        lines = [f"Indexed {report.datasets} datasets, {report.blocks} blocks, {report.objects} objects"]
        lines += [f"Made account {name}" for name in report.accounts_created]
        lines += [f"{item.kind}: {item.dataset_id}: {item.message}" for item in report.findings]
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        facts = dataclasses.asdict(report)
        (write_json if form is OutputFormat.JSON else write_yaml)(_plain(facts))
    return outcome.EXIT_CODES["integrity"] if report.findings else outcome.OK


def _plain(value: object) -> object:
    """Enums and tuples as the text and lists that YAML knows; names as JSON has them."""
    if isinstance(value, dict):
        return {_camel(str(name)): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str.__str__(value) if isinstance(value, str) else value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
