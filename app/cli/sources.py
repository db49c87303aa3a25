"""A dataset to read, by folder or URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odf_core.transfer.client import (
    DatasetAddress,
    DatasetSource,
    FolderSource,
    Http,
    HttpSource,
    Progress,
    TransferOptions,
    folder_of,
)
from odf_core.workspace import TokenStore


@contextmanager
def open_source(place: str, options: TransferOptions, progress: Progress) -> Iterator[DatasetSource]:
    """The dataset in the folder `place`, or at its URL over the Simple protocol."""
    if "://" not in place:
        yield FolderSource(Path(place), options.limits, progress)
        return
    folder = folder_of(place)
    if folder is not None:
        yield FolderSource(folder, options.limits, progress)
        return
    address = DatasetAddress.parse(place)
    with Http(options, progress) as http:
        yield HttpSource(http, address, TokenStore().get(address.url), progress)
