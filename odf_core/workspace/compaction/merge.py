"""Several slices as one file: the same records in the same order, under the schema in force."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from odf_core.chain import Vocabulary
from odf_core.data.errors import InvalidDataFile, SliceUnreadable
from odf_core.data.files.batches import read_batches
from odf_core.data.files.parquet import open_parquet
from odf_core.data.files.source import open_source
from odf_core.data.records.conform import conformed, table_schema
from odf_core.data.slices.write import write_slice
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import DataSlice, SetDataSchema
from odf_core.transfer.client.folder import DatasetFolder


def merge_slices(
    folder: DatasetFolder,
    slices: Sequence[DataSlice],
    target: Path,
    schema: SetDataSchema | None,
    vocabulary: Vocabulary,
) -> DataSlice:
    """Write the records of `slices`, oldest first, to a file in the folder `target`, named by its hash.

    Offsets stay, and with them the order; retractions and corrections stay too. Memory holds one row
    group. Raises `SliceUnreadable`, `InvalidSliceInput`, `DataFileNotFound`, `DataFileLimitExceeded`.
    """
    columns = table_schema(schema)
    written = write_slice(
        _rows(folder, slices, columns), target / ".pending-slice", schema=columns, vocab=vocabulary
    )
    written.path.replace(target / str(written.data_slice.physical_hash))
    return written.data_slice


def _rows(folder: DatasetFolder, slices: Sequence[DataSlice], columns: Any) -> Iterator[Any]:
    for item in slices:
        path = folder.object_path(ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size))
        with open_source(path) as file:
            try:
                for batch in read_batches(open_parquet(file, folder.limits)):
                    yield conformed(batch, columns)
            except InvalidDataFile as error:
                raise SliceUnreadable(
                    f"Slice {item.physical_hash} cannot be read. {error.message}",
                    objects=[item.physical_hash],
                ) from error
