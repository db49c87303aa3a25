"""The prepare phase of a polling source: raw bytes become a file that a reader knows (data.md 3.1)."""

from collections.abc import Sequence
from pathlib import Path

from odf_core.ingest.errors import InvalidPrepareStep
from odf_core.ingest.prepare.gzip_step import gunzip
from odf_core.ingest.prepare.options import PrepareContext
from odf_core.ingest.prepare.pipe import run_pipe
from odf_core.ingest.prepare.zip_step import unzip
from odf_core.metadata.enums import CompressionFormat
from odf_core.metadata.sources import PrepStep, PrepStepPipe


def prepare(steps: Sequence[PrepStep], path: Path, context: PrepareContext) -> Path:
    """`path` itself where there are no steps, else a new file: what one step makes the next one reads.

    `path` is never changed or removed, and no other file is left over. Raises the errors of the steps:
    `ArchiveDamaged`, `ArchiveUnsafe`, `ArchiveEntryNotFound`, `PreparedTooLarge`, `PipeFailed`,
    `PipeTimedOut`, `FetchNotAllowed`, `InvalidPrepareStep`.
    """
    if len(steps) > context.options.max_steps:
        raise InvalidPrepareStep(
            f"The source has {len(steps)} prepare steps, more than the limit of {context.options.max_steps}."
        )
    current = path
    for step in steps:
        try:
            made = _apply(step, current, context)
        finally:
            if current != path:
                current.unlink(missing_ok=True)
        current = made
    return current


def _apply(step: PrepStep, path: Path, context: PrepareContext) -> Path:
    if isinstance(step, PrepStepPipe):
        return run_pipe(step.command, path, context)
    if step.format is CompressionFormat.ZIP:
        return unzip(path, step.sub_path, context)
    return gunzip(path, context)
