"""Rebuilding the index from the bucket (promise 4). Nothing is ever deleted, in the bucket or the index.

It can be run at any time and again: what is there already stays, what is missing is added. A head
moves only forward; where index and bucket went apart, the index is believed and the finding says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from anyio import to_thread
from sqlalchemy.ext.asyncio import AsyncEngine

from app.database import begin
from app.ops.dataset_scan import DatasetScan, DatasetUnusable, scan_dataset
from app.ops.findings import ReindexReport
from app.ops.index_writer import IndexWriter
from odf_core.errors import InvalidInput
from odf_core.identity import AccountName, DatasetId
from odf_core.limits import Limits
from odf_core.storage import ObjectStore


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """One dataset is done: its id, how many there were so far, and how many findings."""

    dataset_id: str
    datasets: int
    findings: int


async def reindex(
    store: ObjectStore,
    engine: AsyncEngine,
    *,
    default_account: str = "odf",
    rehash: bool = False,
    limits: Limits | None = None,
    progress: Callable[[ReindexProgress], None] | None = None,
) -> ReindexReport:
    """Index every dataset of the bucket; one transaction each.

    `rehash` reads every object whole; without it sizes are compared only. `default_account` owns what
    has no alias. Raises `StoreUnavailable` and `DatabaseUnavailable`; it can then be run again.
    """
    report = ReindexReport()
    folders = await to_thread.run_sync(lambda: dict(_folders(store)))
    for count, (dataset_id, files) in enumerate(folders.items(), 1):
        outcome = await to_thread.run_sync(_scan, store, dataset_id, files, limits or Limits(), rehash)
        if isinstance(outcome, DatasetScan):
            async with begin(engine) as conn:
                await IndexWriter(conn, report, AccountName(default_account)).write(outcome)
        else:
            report.findings.append(outcome.finding)
        if progress is not None:
            progress(ReindexProgress(str(dataset_id), count, len(report.findings)))
    return report


def _scan(
    store: ObjectStore, dataset_id: DatasetId, files: dict[str, int], limits: Limits, rehash: bool
) -> DatasetScan | DatasetUnusable:
    try:
        return scan_dataset(store, dataset_id, files, limits=limits, rehash=rehash)
    except DatasetUnusable as error:
        return error


def _folders(store: ObjectStore) -> Iterator[tuple[DatasetId, dict[str, int]]]:
    """The datasets' folders with the sizes of their files; other folders (staging) are left out."""
    for folder, files in groupby(store.list(""), key=lambda item: item.key.partition("/")[0]):
        try:
            dataset_id = DatasetId.parse(f"did:odf:{folder}")
        except InvalidInput:
            continue
        if dataset_id.multibase == folder:
            yield dataset_id, {item.key.partition("/")[2]: item.size for item in files}
