"""The last records of a local dataset, of all or of those that stand."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from odf_core.chain import offset_as_of, parse_as_of
from odf_core.chain.keys import primary_key_of
from odf_core.data.records.state import STATE_BYTES, read_state
from odf_core.data.records.tail import OpenSlice, TailRange, read_tail
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import AddData, DataSlice, ExecuteTransform, Timestamp
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
    opened = _opening(folder)
    return read_tail(slices_back(folder), opened, schema, wanted or TailRange(), limits=folder.limits)


def standing(
    dataset: LocalDataset,
    wanted: TailRange | None = None,
    *,
    at: Timestamp | None = None,
    max_bytes: int = STATE_BYTES,
) -> Any:
    """A `pa.Table` of the last of the records that stand, of those up to the event time `at` (data.md 6).

    Raises `StateTooLarge`, and what `tail` raises.
    """
    folder = dataset.folder
    state = current_state(folder)
    return read_state(
        slices_back(folder),
        _opening(folder),
        state.schema,
        state.vocabulary,
        primary_key_of(state),
        wanted or TailRange(),
        at=at,
        max_bytes=max_bytes,
        limits=folder.limits,
    )


def resolve_as_of(dataset: LocalDataset, text: str) -> int:
    """The last offset as of an offset, the hash of a block or a system time. Raises `AsOfInvalid`,
    `AsOfNotFound`."""
    return offset_as_of(dataset.folder.walk(), parse_as_of(text), str(dataset.alias or dataset.id))


def _opening(folder: DatasetFolder) -> OpenSlice:
    def open_slice(item: DataSlice) -> AbstractContextManager[Path]:
        path = folder.object_path(ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size))
        if not path.is_file():
            raise LocalObjectDamaged(
                f"The file of slice {item.physical_hash} is missing; pull the dataset again.",
                objects=[item.physical_hash],
                extras={"path": str(path)},
            )
        return nullcontext(path)

    return open_slice


def slices_back(folder: DatasetFolder) -> Iterator[DataSlice]:
    """The slices of the dataset, newest first."""
    for block in folder.walk():
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
            yield event.new_data
