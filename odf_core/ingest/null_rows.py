"""In which row of the input a null stands that the dataset cannot take."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow.compute as pc
import pyarrow.parquet as pq

from odf_core.ingest.merge_errors import UnexpectedNulls
from odf_core.ingest.values import StagedInput


@contextmanager
def telling_rows(staged: StagedInput | None) -> Iterator[None]:
    """An `UnexpectedNulls` from inside tells the first row of `staged` with a null in its column. None: a
    query stands between the input and its records, which alone are told then."""
    try:
        yield
    except UnexpectedNulls as error:
        row = None if staged is None else first_null(staged, error.objects[0])
        if row is None:
            raise
        raise UnexpectedNulls.in_column(error.objects[0], error.extras["nulls"], {}, row) from error


def first_null(staged: StagedInput, column: str) -> int | None:
    """The first row (from 1, in the order of the source) with a null in the column; None where no input
    record has one, as where a merge said an old record again."""
    before = 0
    for path in staged.files:
        with pq.ParquetFile(path) as file:
            place = file.schema_arrow.get_field_index(column)
            if place < 0:
                return None
            for batch in file.iter_batches():  # not of one column: names with dots would be taken for paths
                index: int = pc.index(pc.is_null(batch.column(place)), True).as_py()
                if index >= 0:
                    return before + index + 1
                before += len(batch)
    return None
