"""What holds in a local dataset now, and which other datasets are computed from it."""

from collections.abc import Iterable
from typing import Protocol

from odf_core.chain import Projection
from odf_core.identity import DatasetId
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import key_blocks
from odf_core.workspace.dataset import LocalDataset


class Datasets(Protocol):
    """What is asked of a workspace here."""

    def datasets(self) -> Iterable[LocalDataset]: ...


def current_state(folder: DatasetFolder) -> Projection:
    """The projection at the head, from a handful of blocks; its `num_records` is not that of the dataset.

    Raises what reading the chain raises.
    """
    return Projection.of(key_blocks(folder)) if folder.head() is not None else Projection()


def input_ids(dataset: LocalDataset) -> frozenset[DatasetId]:
    """The datasets that a derivative is computed from."""
    transform = current_state(dataset.folder).transform
    refs = transform.inputs if transform is not None else ()
    return frozenset(item.dataset_ref for item in refs if isinstance(item.dataset_ref, DatasetId))


def dependants(
    workspace: Datasets, ids: Iterable[DatasetId], *, but: Iterable[DatasetId] = ()
) -> list[LocalDataset]:
    """The datasets of the workspace that read one of `ids` directly, without those of `but`."""
    wanted, left_out = frozenset(ids), frozenset(but)
    return [item for item in workspace.datasets() if item.id not in left_out and wanted & input_ids(item)]


def names_of(datasets: Iterable[LocalDataset]) -> str:
    """`a, b, c`: for sentences."""
    return ", ".join(str(item.alias or item.id) for item in datasets)


def nowhere_to_pull(dataset: LocalDataset) -> str:
    """Why `odf pull` of a dataset's name does not know what to pull, and what to do: a sentence."""
    saved = dataset.remotes.pull
    if saved:
        return f"Say from where to pull {dataset.alias}, by URL (it has several: {', '.join(saved)})."
    if current_state(dataset.folder).push_sources:
        return (
            f"{dataset.alias} has nothing to pull from: it has no polling source, and none is saved that it "
            f"was pulled from. Records are pushed into it: `odf ingest {dataset.alias} FILE`."
        )
    return f"Say from where to pull {dataset.alias}, by URL (none is saved, and it has no polling source)."
