"""The last records of a local dataset."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from odf_core.data.records.tail import TailRange, read_tail
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import AddData, DataSlice, ExecuteTransform
from odf_core.transfer.client.errors import LocalObjectDamaged
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.state import current_state


def tail(dataset: LocalDataset, wanted: TailRange | None = None) -> Any:
    """A `pa.Table` of the last records by offset, ascending (data.md 6).

    Raises what `read_tail` raises, and `LocalObjectDamaged` for a slice whose file is missing.
    """
    folder = dataset.folder
    schema = current_state(folder).schema

    def open_slice(item: DataSlice) -> AbstractContextManager[Path]:
        path = folder.object_path(ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size))
        if not path.is_file():
            raise LocalObjectDamaged(
                f"The file of slice {item.physical_hash} is missing; pull the dataset again.",
                objects=[item.physical_hash],
                extras={"path": str(path)},
            )
        return nullcontext(path)

    return read_tail(slices_back(folder), open_slice, schema, wanted or TailRange(), limits=folder.limits)


def slices_back(folder: DatasetFolder) -> Iterator[DataSlice]:
    """The slices of the dataset, newest first."""
    for block in folder.walk():
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
            yield event.new_data
