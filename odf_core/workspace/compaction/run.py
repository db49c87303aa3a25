"""A compaction from the lock to the last old file (data.md 5.2)."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from odf_core.chain import Vocabulary, new_objects
from odf_core.errors import IntegrityError
from odf_core.identity import Multihash, ObjectRef
from odf_core.metadata import (
    AddData,
    DatasetKind,
    DataSlice,
    ExecuteTransform,
    Seed,
    SetDataSchema,
    StoredBlock,
)
from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import KeyBlocks
from odf_core.verify import VerifyOptions, verify_integrity
from odf_core.workspace.compaction.merge import merge_slices
from odf_core.workspace.compaction.options import CompactionOptions, CompactionResult
from odf_core.workspace.compaction.plan import plan
from odf_core.workspace.compaction.rebuild import rebuild
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import NotOfThisKind
from odf_core.workspace.reset import readers_of, require_head

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace

_STAGE = ".pending-compaction-"


class CompactionFailed(IntegrityError):
    """What a compaction made does not verify; the dataset is as it was."""

    code: ClassVar[str] = "compaction_failed"


def compact(
    workspace: "Workspace",
    dataset: LocalDataset,
    options: CompactionOptions | None = None,
    *,
    old_head: Multihash | None = None,
) -> CompactionResult:
    """Rewrite a dataset's chain with fewer slices, or without any; its id, name and records stay.

    With `old_head`, only if that is the head. Raises `NotOfThisKind` for a derivative dataset, which can
    only lose its records; `CompactionFailed`; `OldHeadMismatch`, `DatasetBusy`, `LocalHeadMoved`; and what
    reading blocks and slices raises. The dataset is then as it was.
    """
    wanted = options or CompactionOptions()
    with dataset.lock():
        head = require_head(dataset, old_head)
        folder = dataset.folder
        old = list(folder.walk(head))[::-1]
        _check_kind(dataset, old, wanted)
        steps = plan(old, wanted)
        if len(steps) == len(old):
            slices = len(_slices(old))
            return CompactionResult(head, head, len(old), len(old), slices, slices)
        with _stage(folder) as stage:
            new = rebuild(steps, partial(_merge, folder, stage))
            _fill(stage, folder, new)
            _verify(stage)
            kept = {item.hash for item in new}
            broken = readers_of(workspace, dataset.id, (item.hash for item in old if item.hash not in kept))
            _publish(folder, stage, new, head)
        if not wanted.keep_old_files:
            _remove(folder, old, new)
    return CompactionResult(
        head, new[-1].hash, len(old), len(new), len(_slices(old)), len(_slices(new)), tuple(broken)
    )


def _check_kind(dataset: LocalDataset, blocks: list[StoredBlock], options: CompactionOptions) -> None:
    seed = blocks[0].block.event
    is_root = isinstance(seed, Seed) and seed.dataset_kind is DatasetKind.ROOT
    if not is_root and not options.keep_metadata_only:
        raise NotOfThisKind(
            f"{dataset.alias} is derivative: its slices follow from its inputs. Only all of them can be "
            "dropped (`--keep-metadata-only`), and computed anew.",
            objects=[dataset.id],
        )


@contextmanager
def _stage(folder: DatasetFolder) -> Iterator[DatasetFolder]:
    """A dataset beside the dataset, gone afterwards; what an earlier run left goes first."""
    for left in folder.path.glob(f"{_STAGE}*"):
        shutil.rmtree(left)
    stage = DatasetFolder(folder.path / f"{_STAGE}{os.getpid()}", folder.limits)
    stage.create()
    try:
        yield stage
    finally:
        shutil.rmtree(stage.path, ignore_errors=True)


def _merge(
    folder: DatasetFolder,
    stage: DatasetFolder,
    slices: list[DataSlice],
    schema: SetDataSchema | None,
    vocabulary: Vocabulary,
) -> DataSlice:
    return merge_slices(folder, slices, stage.path / "data", schema, vocabulary)


def _fill(stage: DatasetFolder, folder: DatasetFolder, new: list[StoredBlock]) -> None:
    """Blocks, head, and the objects that stay, so that the stage is a whole dataset."""
    for ref in _objects(new):
        if not stage.object_path(ref).exists() and folder.object_path(ref).exists():
            os.link(folder.object_path(ref), stage.object_path(ref))
    stage.write_blocks((item.hash, item.data) for item in new)
    stage.move_head(new[-1].hash, expected=None, durable=False)


def _verify(stage: DatasetFolder) -> None:
    store = DatasetStore(DirectoryStore(stage.path), "", limits=stage.limits)
    report = verify_integrity(store, VerifyOptions(limits=stage.limits))
    if not report.ok:
        first = report.findings[0]
        raise CompactionFailed(
            f"What the compaction made does not verify ({first.message.rstrip('.')}); nothing has changed. "
            "Run `odf verify` to see whether the dataset itself is whole.",
            objects=first.objects,
            extras={"findings": [finding.to_json() for finding in report.findings[:20]]},
        )


def _publish(folder: DatasetFolder, stage: DatasetFolder, new: list[StoredBlock], head: Multihash) -> None:
    keys = KeyBlocks()
    for ref in _objects(new):
        if not folder.object_path(ref).exists():
            stage.object_path(ref).replace(folder.object_path(ref))
            folder.object_arrived(ref)
    folder.write_blocks((item.hash, item.data) for item in new)
    for item in new:
        keys.note(item)
    folder.move_head(new[-1].hash, expected=head)
    keys.save(folder)


def _remove(folder: DatasetFolder, old: Iterable[StoredBlock], new: Iterable[StoredBlock]) -> None:
    """Delete what only the old chain named. The head has moved: a crash here leaves files, no damage."""
    blocks = {item.hash for item in old} - {item.hash for item in new}
    paths: list[Path] = [folder.block_path(item) for item in blocks]
    paths += [folder.object_path(ref) for ref in _objects(old) - _objects(new)]
    for path in paths:
        path.unlink(missing_ok=True)


def _objects(blocks: Iterable[StoredBlock]) -> set[ObjectRef]:
    return {ref for item in blocks for ref in new_objects(item.block)}


def _slices(blocks: Iterable[StoredBlock]) -> list[DataSlice]:
    events = (item.block.event for item in blocks)
    slices = [event.new_data for event in events if isinstance(event, AddData | ExecuteTransform)]
    return [item for item in slices if item is not None]
