"""Metadata of local datasets, changed by hand: `odf commit`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.ingest.evolution import Accept, Evolution, evolve
from odf_core.ingest.trial import Trial
from odf_core.metadata import PlacedEvent, SetTransform, Timestamp
from odf_core.transfer.client.keyblocks import key_blocks
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import PulledDataset
from odf_core.workspace.reset import require_head

if TYPE_CHECKING:
    from odf_core.transform.define import ChooseEngine
    from odf_core.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Committed:
    """The heads before and after, and what became of each event; with equal heads, nothing was changed."""

    old_head: Multihash
    new_head: Multihash
    evolution: Evolution


def commit_events(
    workspace: "Workspace",
    dataset: LocalDataset,
    events: Sequence[PlacedEvent],
    system_time: Timestamp,
    *,
    old_head: Multihash | None = None,
    dry_run: bool = False,
    trial: Trial | None = None,
    choose: "ChooseEngine | None" = None,
) -> Committed:
    """Append the events to the dataset's chain, all of them or none; what it says already is left out.

    With `old_head`, only if that is the head; with `dry_run` everything is checked and nothing written;
    `trial` tries the queries of new sources. With `choose` a transformation is tried by its engine and pinned
    to it. Raises what `evolve` and `accepting` raise, `PulledDataset` for a dataset that
    follows another one, `OldHeadMismatch`, `DatasetBusy`, `LocalHeadMoved`.
    """

    def resolve(ref: DatasetId | DatasetAlias) -> DatasetId | None:
        found = workspace.find_dataset(ref)
        return found.id if found is not None else None

    with dataset.lock():
        head = require_head(dataset, old_head)
        if dataset.remotes.pull:
            raise PulledDataset(
                f"{dataset.alias} is pulled from {', '.join(dataset.remotes.pull)}; a block of its own would "
                "make it diverge. Change its metadata there.",
                objects=[dataset.id],
            )
        accept = _accept(workspace, dataset, events, choose)
        made = evolve(key_blocks(dataset.folder), events, system_time, resolve, trial, accept)
        if dry_run or not made.blocks:
            return Committed(head, head, made)
        return Committed(head, append_blocks(dataset.folder, made.blocks, None), made)


def _accept(
    workspace: "Workspace",
    dataset: LocalDataset,
    events: Sequence[PlacedEvent],
    choose: "ChooseEngine | None",
) -> Accept | None:
    if choose is None or not any(isinstance(item.event, SetTransform) for item in events):
        return None
    from odf_core.workspace.defining import accepting  # it brings the engines along

    return accepting(workspace, dataset, choose)
