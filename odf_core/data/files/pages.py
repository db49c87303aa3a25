"""How much memory the rows of a Parquet file can take, told from its page headers.

A few bytes of a Parquet file can stand for gigabytes: a page may decompress to a thousand times its size,
and one long value in a dictionary may be repeated a million times. The headers of pages (and, where it
matters, the lengths of the values in a dictionary) tell how many bytes a row can take at most, and so how
many rows may be read at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odf_core.data.errors import DataFileLimitExceeded, InvalidDataFile
from odf_core.data.files.footer import Chunk, Footer, Leaf
from odf_core.data.files.thrift import ThriftReader
from odf_core.limits import KiB, Limits, MiB

_BYTE_ARRAY, _FIXED_LENGTH = 6, 7
_PLAIN_DICTIONARY, _DELTA_BYTE_ARRAY, _RLE_DICTIONARY = 2, 7, 8
_CODECS = {0: None, 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_DICTIONARY_PAGE = 2
_HEADER_BYTES = 8 * KiB
_LARGEST_HEADER_BYTES = MiB
_DATA_PAGE = {1: None, 2: None}
_DATA_PAGE_V2 = {1: None, 4: None}
_PAGE_HEADER = {1: None, 2: None, 3: None, 5: _DATA_PAGE, 7: _DATA_PAGE, 8: _DATA_PAGE_V2}
_NUMBER_BYTES = 16
_WORTH_A_LOOK_BYTES = 2 * KiB


@dataclass(frozen=True, slots=True)
class Page:
    """A page as its header tells it; `start` is where its (compressed) content begins."""

    is_dictionary: bool
    start: int
    compressed_size: int
    uncompressed_size: int
    num_values: int
    encoding: int


class PageSurvey:
    """Looks through the pages of one `pa.NativeFile`; raises `InvalidDataFile`, `DataFileLimitExceeded`."""

    def __init__(self, file: Any, footer: Footer, limits: Limits) -> None:
        self._file = file
        self._footer = footer
        self._limits = limits
        self._pages = 0

    def row_bytes(self, group: int, *, columns: list[int] | None = None) -> int:
        """The most bytes that one row of a row group can take in memory, in these columns (or in all);
        of lists the average counts, and how long they can be at most is limited."""
        row_group = self._footer.row_groups[group]
        total = 0
        for index in range(len(row_group.chunks)) if columns is None else columns:
            chunk, leaf = row_group.chunks[index], self._footer.leaves[index]
            items = 1
            if leaf.is_repeated:
                if chunk.num_values > self._limits.slice_list_items:
                    raise self._exceeded("items of lists", chunk.num_values, self._limits.slice_list_items)
                items += chunk.num_values // max(1, row_group.num_rows)
            total += items * self._value_bytes(chunk, leaf)
        return total

    def _value_bytes(self, chunk: Chunk, leaf: Leaf) -> int:
        """The most bytes that one value of a chunk takes; every page's header is looked at."""
        most = leaf.type_length if leaf.physical_type == _FIXED_LENGTH else _NUMBER_BYTES
        dictionary: Page | None = None
        uses_dictionary = False
        for page in self._walk(chunk, leaf):
            if leaf.physical_type != _BYTE_ARRAY:
                continue
            if page.is_dictionary:
                dictionary = page
            elif page.encoding in (_PLAIN_DICTIONARY, _RLE_DICTIONARY):
                uses_dictionary = True
            elif page.encoding == _DELTA_BYTE_ARRAY:
                most = max(most, page.uncompressed_size)
            else:
                most = max(most, page.uncompressed_size // max(1, page.num_values))
        if uses_dictionary and dictionary is not None:
            most = max(most, self._longest_in_dictionary(dictionary, chunk, leaf))
        return most

    def _walk(self, chunk: Chunk, leaf: Leaf) -> Iterator[Page]:
        position, end, left = chunk.start, chunk.start + chunk.compressed_size, chunk.num_values
        while left > 0 and position < end:
            page = self._header(position, end, leaf)
            if page.uncompressed_size > self._limits.slice_page_bytes:
                raise self._exceeded("bytes in a page", page.uncompressed_size, self._limits.slice_page_bytes)
            self._pages += 1
            if self._pages > self._limits.slice_pages:
                raise self._exceeded("pages or more", self._pages, self._limits.slice_pages)
            yield page
            position = page.start + page.compressed_size
            left -= 0 if page.is_dictionary else page.num_values
        if left > 0:
            raise InvalidDataFile(f"Column {leaf.name!r} has a chunk with fewer values than it says.")

    def _header(self, position: int, end: int, leaf: Leaf) -> Page:
        for room in (_HEADER_BYTES, _LARGEST_HEADER_BYTES):
            data = self._file.read_at(min(room, end - position), position)
            reader = ThriftReader(data)
            try:
                header = reader.struct(_PAGE_HEADER)
                break
            except InvalidDataFile:
                if len(data) < room or room == _LARGEST_HEADER_BYTES:
                    raise
        details: dict[int, Any] = next(
            (header[field] for field in (5, 7, 8) if isinstance(header.get(field), dict)), {}
        )
        numbers = [header.get(2), header.get(3), details.get(1, 0), details.get(4 if 8 in header else 2, 0)]
        if not all(isinstance(number, int) and number >= 0 for number in numbers):
            raise InvalidDataFile(f"Column {leaf.name!r} has a page without a size.")
        uncompressed, compressed, values, encoding = numbers
        page = Page(
            header.get(1) == _DICTIONARY_PAGE,
            position + reader.position,
            compressed,
            uncompressed,
            values,
            encoding,
        )
        if page.start + page.compressed_size > end:
            raise InvalidDataFile(f"Column {leaf.name!r} has a page that ends behind its chunk.")
        return page

    def _longest_in_dictionary(self, page: Page, chunk: Chunk, leaf: Leaf) -> int:
        """The length of the longest value; for a small dictionary, its size will do."""
        if page.uncompressed_size <= _WORTH_A_LOOK_BYTES or chunk.codec not in _CODECS:
            return page.uncompressed_size
        content = self._file.read_at(page.compressed_size, page.start)
        codec = _CODECS[chunk.codec]
        if codec is not None:
            content = pa.decompress(content, page.uncompressed_size, codec, asbytes=True)
        longest = position = 0
        while position + 4 <= len(content):
            length = int.from_bytes(content[position : position + 4], "little")
            position += 4 + length
            longest = max(longest, length)
        if position != len(content):
            raise InvalidDataFile(f"Column {leaf.name!r} has a dictionary that ends within a value.")
        return longest

    def _exceeded(self, what: str, count: int, most: int) -> DataFileLimitExceeded:
        return DataFileLimitExceeded(
            f"A Parquet file has {count} {what}, more than the limit of {most}.",
            extras={"count": count, "limit": most},
        )
