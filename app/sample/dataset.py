"""The sample dataset, made with the library: the leap seconds of UTC.

`leap_seconds.csv` has the difference between atomic time and UTC since each date on which it changed, as
the International Earth Rotation and Reference Systems Service publishes it; the table comes from the file
`leap-seconds.list` of the IANA time zone database, which is in the public domain.

By hand: `python -m app.sample.dataset FOLDER` writes the dataset in the layout of the specification.
"""

import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from odf_core.data import arrow_schema_to_odf, as_records, write_slice
from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.metadata import (
    DEFAULT_MANIFEST_VERSION,
    AddData,
    AttachmentEmbedded,
    AttachmentsEmbedded,
    DatasetKind,
    MetadataBlock,
    MetadataEvent,
    Seed,
    SetAttachments,
    SetDataSchema,
    SetInfo,
    SetLicense,
    StoredBlock,
    Timestamp,
    make_block,
)
from odf_core.transfer.client import DatasetFolder
from odf_core.workspace.creation import append_blocks

NAME = "leap-seconds"
DECADES = ((1972, 1980), (1980, 1990), (1990, 2000), (2000, 2100))
"""First year and the year after the last, a slice each."""

_TABLE = Path(__file__).with_name("leap_seconds.csv")
_EVENT_TIME = pa.timestamp("ms", tz="UTC")
_ABOUT = """# Leap seconds

Since 1972 UTC differs from international atomic time (TAI) by whole seconds. Each record says from when on
(`event_time`) which difference held (`tai_minus_utc`, in seconds).

Source: IERS Bulletin C, as kept in the IANA time zone database (public domain).
"""


def make_sample(folder: Path, *, manifest_version: int = DEFAULT_MANIFEST_VERSION) -> DatasetFolder:
    """A new dataset with an id of its own in `folder`: five definitions, then a slice per decade."""
    dataset = DatasetFolder(folder)
    now = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="odf-sample-") as scratch:
        files: dict[ObjectRef, Path] = {}
        chain: list[StoredBlock] = []
        for event in _events(now, Path(scratch), files):
            previous = chain[-1].hash if chain else None
            chain.append(_block(event, previous, len(chain), now, manifest_version))
        append_blocks(dataset, chain, files)
    return dataset


def _block(
    event: MetadataEvent, previous: Multihash | None, number: int, now: datetime, version: int
) -> StoredBlock:
    block = MetadataBlock(
        system_time=Timestamp.from_datetime(now),
        prev_block_hash=previous,
        sequence_number=number,
        event=event,
    )
    return make_block(block, version)


def _events(now: datetime, scratch: Path, files: dict[ObjectRef, Path]) -> Iterator[MetadataEvent]:
    yield Seed(dataset_id=DatasetId.generate()[0], dataset_kind=DatasetKind.ROOT)
    yield SetInfo(
        description="Difference between atomic time and UTC since 1972",
        keywords=("time", "utc", "tai", "leap seconds", "iers"),
    )
    yield SetLicense(
        short_name="Public domain",
        name="Public domain (IANA time zone database)",
        website_url="https://www.iana.org/time-zones",
    )
    readme = AttachmentEmbedded(path="README.md", content=_ABOUT)
    yield SetAttachments(attachments=AttachmentsEmbedded(items=(readme,)))
    rows = read_table()
    empty = as_records(rows.slice(0, 0), first_offset=0, system_time=now)
    yield SetDataSchema(schema=arrow_schema_to_odf(empty.schema))
    yield from _slices(rows, now, scratch, files)


def _slices(rows: Any, now: datetime, scratch: Path, files: dict[ObjectRef, Path]) -> Iterator[MetadataEvent]:
    years = [moment.year for moment in rows.column("event_time").to_pylist()]
    offset, prev_offset = 0, None
    for first, after in DECADES:
        part = rows.filter(pa.array([first <= year < after for year in years]))
        written = write_slice(
            as_records(part, first_offset=offset, system_time=now), scratch / f"{first}.parquet"
        )
        described = written.data_slice
        files[ObjectRef(ObjectKind.DATA_SLICE, described.physical_hash, described.size)] = written.path
        last = part.column("event_time")[-1].as_py()
        yield AddData(
            prev_offset=prev_offset, new_data=described, new_watermark=Timestamp.from_datetime(last)
        )
        offset += written.num_rows
        prev_offset = offset - 1


def read_table() -> Any:
    """The rows as a `pa.Table` of `event_time` (milliseconds, UTC) and `tai_minus_utc` (seconds)."""
    table = csv.read_csv(_TABLE)
    dates = table.column("effective_from").cast(pa.timestamp("ms")).cast(_EVENT_TIME)
    seconds = table.column("tai_minus_utc").cast(pa.int32())
    return pa.table({"event_time": dates, "tai_minus_utc": seconds})


if __name__ == "__main__":
    print(make_sample(Path(sys.argv[1])).head())  # noqa: T201 - a script says what it made
