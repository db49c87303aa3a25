"""New blocks onto a local chain: checked by the rules, objects placed, the head moved last."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from odf_core.chain import new_objects
from odf_core.identity import Multihash, ObjectRef
from odf_core.metadata import MetadataBlock, StoredBlock, make_block
from odf_core.transfer.client.errors import LocalObjectDamaged
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import KeyBlocks, resume_chain
from odf_core.workspace.errors import NothingToImport

Objects = Mapping[ObjectRef, Path] | Path | None
"""Files by object, or a folder that has them in the layout of the specification."""


@dataclass(frozen=True, slots=True)
class PreparedBlocks:
    """Blocks and objects that lie in the folder, of which nothing is visible yet."""

    folder: DatasetFolder
    old_head: Multihash | None
    new_head: Multihash
    keys: KeyBlocks

    def commit(self) -> None:
        """Make them the dataset. Raises `LocalHeadMoved`."""
        self.folder.move_head(self.new_head, expected=self.old_head)
        self.keys.save(self.folder)


def append_blocks(
    folder: DatasetFolder, blocks: Iterable[MetadataBlock | StoredBlock], objects: Objects
) -> Multihash:
    """Append `blocks`, oldest first, with the files that they declare; the new head.

    Nothing is visible before the head has moved. Raises `NothingToImport`, `LocalObjectDamaged`, and
    the refusals of `ChainState.append`.
    """
    prepared = prepare_blocks(folder, blocks, objects)
    prepared.commit()
    return prepared.new_head


def prepare_blocks(
    folder: DatasetFolder, blocks: Iterable[MetadataBlock | StoredBlock], objects: Objects
) -> PreparedBlocks:
    """Check and write `blocks` and their files, but leave the head. Raises as `append_blocks`."""
    head = folder.head()
    state, keys = resume_chain(folder, head)
    stored: list[tuple[Multihash, bytes]] = []
    declared: dict[ObjectRef, None] = {}
    for block in blocks:
        made = block if isinstance(block, StoredBlock) else make_block(block)
        state.append(made)
        keys.note(made)
        stored.append((made.hash, made.data))
        declared.update(dict.fromkeys(new_objects(made.block)))
    if not stored:
        raise NothingToImport("There are no blocks to append.", objects=[folder])
    folder.create()
    for ref in declared:
        _place(folder, ref, _source(ref, objects))
    folder.write_blocks(stored)
    return PreparedBlocks(folder, head, stored[-1][0], keys)


def _source(ref: ObjectRef, objects: Objects) -> Path | None:
    if isinstance(objects, Path):
        return DatasetFolder(objects).object_path(ref)
    return objects.get(ref) if objects is not None else None


def _place(folder: DatasetFolder, ref: ObjectRef, source: Path | None) -> None:
    target = folder.object_path(ref)
    if source is None or not source.is_file():
        if folder.has_object(ref):
            return
        raise NothingToImport(f"A block declares {ref}, but there is no file of it.", objects=[ref.hash])
    from odf_core.transfer.client.partial import hash_file  # it brings numpy along

    found, size = hash_file(source)
    if found != ref.hash or (ref.size is not None and size != ref.size):
        raise LocalObjectDamaged(
            f"The file of {ref} has {size} bytes that hash to {found}; the block declares {ref.size} bytes.",
            objects=[ref.hash],
            extras={"path": str(source), "found": str(found)},
        )
    pending = target.with_name(f".pending-{os.getpid()}-{target.name}")
    shutil.copyfile(source, pending)
    pending.replace(target)
    folder.object_arrived(ref)
