"""What a query remembers between steps, as one file: equal states give equal bytes (spark.md 4).

A tar with a header (JSON) and one Parquet file for each part of the query that has rows. Times, owners and
names in the tar are always the same; who hands rows over has put them in an order that follows from them.
"""

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.errors import OdfError
from odf_core.metadata import Timestamp
from odf_core.transform.errors import CheckpointUnreadable

FORMAT = 1
_HEADER = "header.json"
_MOST_HEADER_BYTES = 1 << 20


@dataclass(slots=True)
class Memory:
    """Watermarks by input, of the result, and the rows of each part (none: nothing was read yet).

    `query` is the digest of the query and of the columns of its parts: another query's state is refused.
    """

    query: str
    watermarks: dict[str, Timestamp] = field(default_factory=dict)
    watermark: Timestamp | None = None
    has_begun: bool = False
    late_rows: int = 0
    rows: dict[int, pa.Table] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.watermarks and not self.has_begun


def write_state(memory: Memory, path: Path) -> None:
    """Writes it; no file where there is nothing to remember."""
    if memory.is_empty:
        return
    header = {
        "format": FORMAT,
        "query": memory.query,
        "watermarks": {name: str(value) for name, value in memory.watermarks.items()},
        "watermark": None if memory.watermark is None else str(memory.watermark),
        "begun": memory.has_begun,
        "lateRows": memory.late_rows,
    }
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        _add(tar, _HEADER, json.dumps(header, sort_keys=True, separators=(",", ":")).encode())
        for number in sorted(memory.rows):
            _add(tar, f"rows-{number:04}.parquet", _parquet(memory.rows[number]))


def read_state(path: Path | None, query: str) -> Memory:
    """What was remembered; nothing for no file. Raises `CheckpointUnreadable`."""
    if path is None:
        return Memory(query)
    try:
        with tarfile.open(path, "r:") as tar:
            header = json.loads(_member(tar, _HEADER, _MOST_HEADER_BYTES))
            memory = _memory(header)
            for member in tar.getmembers():
                if member.name.startswith("rows-"):
                    number = int(member.name[5:9])
                    memory.rows[number] = pq.read_table(pa.BufferReader(_member(tar, member.name, None)))
    except (
        OSError,
        tarfile.TarError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        pa.ArrowException,
        OdfError,
    ) as error:
        raise CheckpointUnreadable(
            f"The checkpoint cannot be read: {error}. Restore it from a repository that has it, or reset the "
            f"dataset and compute it anew."
        ) from error
    if memory.query != query:
        raise CheckpointUnreadable(
            "The checkpoint was left by another query. Restore the one that the chain names, or reset the "
            "dataset."
        )
    return memory


def _memory(header: Mapping[str, Any]) -> Memory:
    if header["format"] != FORMAT:
        raise ValueError(f"its format is {header['format']}, not {FORMAT}")
    watermark = header["watermark"]
    return Memory(
        query=header["query"],
        watermarks={name: Timestamp.parse(value) for name, value in header["watermarks"].items()},
        watermark=None if watermark is None else Timestamp.parse(watermark),
        has_begun=bool(header["begun"]),
        late_rows=int(header["lateRows"]),
    )


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(content), 0, 0o644
    tar.addfile(entry, io.BytesIO(content))


def _member(tar: tarfile.TarFile, name: str, most: int | None) -> bytes:
    entry = tar.getmember(name)
    file = tar.extractfile(entry)
    if file is None or (most is not None and entry.size > most):
        raise ValueError(f"its {name} is no file of a likely size")
    return file.read()


def _parquet(table: pa.Table) -> bytes:
    """Parquet writes no bytes of null slots, so that equal rows give equal files."""
    sink = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata(None),
        sink,
        compression="zstd",
        compression_level=1,
        write_statistics=False,
        store_schema=True,
    )
    return sink.getvalue()
