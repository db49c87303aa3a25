"""Taking a dataset back to an earlier block (data.md 5.3)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import ExecuteTransform
from odf_core.transfer.client.keyblocks import resume_chain
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import LocalDatasetNotFound, NotAnAncestor, OldHeadMismatch
from odf_core.workspace.state import current_state, dependants

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ResetResult:
    """Where the head was and is; `num_blocks` were taken off. `broken` have read some of them: they
    cannot go on, and have to be reset too. Nothing has happened where both heads are one."""

    old_head: Multihash
    new_head: Multihash
    num_blocks: int
    broken: tuple[LocalDataset, ...]


def reset_dataset(
    workspace: "Workspace",
    dataset: LocalDataset,
    block: Multihash | None = None,
    *,
    old_head: Multihash | None = None,
) -> ResetResult:
    """Make `block` (default: the Seed) the head; what came after it stays on the disk, unnamed.

    With `old_head`, only if that is the head. Raises `OldHeadMismatch`, `NotAnAncestor`, `DatasetBusy`,
    `LocalHeadMoved`, and what reading the chain raises.
    """
    with dataset.lock():
        head = require_head(dataset, old_head)
        removed: list[Multihash] = []
        target: Multihash | None = None
        for item in dataset.folder.walk(head):
            if item.hash == block or (block is None and item.block.prev_block_hash is None):
                target = item.hash
                break
            removed.append(item.hash)
        if target is None:
            raise NotAnAncestor(
                f"Block {block} is not in the chain of {dataset.alias}; only a block of it can become its "
                "head.",
                objects=[block, head],
            )
        broken = readers_of(workspace, dataset.id, removed)
        if removed:
            dataset.folder.move_head(target, expected=head)
            _, keys = resume_chain(dataset.folder, target)
            keys.save(dataset.folder)
    return ResetResult(head, target, len(removed), tuple(broken))


def require_head(dataset: LocalDataset, expected: Multihash | None) -> Multihash:
    """The head, which is `expected` unless that is None. Raises `OldHeadMismatch`."""
    head = dataset.head
    if head is None:
        raise LocalDatasetNotFound(f"There is no dataset {dataset.id} any more.", objects=[dataset.id])
    if expected not in (None, head):
        raise OldHeadMismatch(
            f"The head of {dataset.alias} is {head}, not {expected}; look at what has changed.",
            objects=[head, expected],
        )
    return head


def readers_of(
    workspace: "Workspace", dataset_id: DatasetId, blocks: Iterable[Multihash]
) -> list[LocalDataset]:
    """The datasets that are computed from this one and have read up to one of these blocks."""
    wanted = frozenset(blocks)
    return [
        user
        for user in (dependants(workspace, [dataset_id]) if wanted else ())
        if _last_read(current_state(user.folder).last_query, dataset_id) in wanted
    ]


def _last_read(query: ExecuteTransform | None, dataset_id: DatasetId) -> Multihash | None:
    for item in query.query_inputs if query is not None else ():
        if item.dataset_id == dataset_id:
            return item.new_block_hash or item.prev_block_hash
    return None
