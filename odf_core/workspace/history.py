"""The history of a local dataset without reading its whole chain: slices are remembered beside it.

What decides about the next blocks comes from a handful of key blocks. The list of slices is kept in
`info/slices` with the block up to which it counts; only blocks after that one are read. The file is a cache:
it is passed over where that block is no longer in the chain or the offsets do not fit, and can be deleted.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from odf_core.chain import Projection
from odf_core.errors import InvalidInput
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.ingest.history import History, new_slice
from odf_core.metadata import DataSlice
from odf_core.transfer.client.durable import write_atomically
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import key_blocks

_FILE = "slices"
_MOST_BYTES = 64 * 1024 * 1024
_WORTH_BLOCKS = 50
"""So many blocks are read again and again before the list is written anew."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Slices up to the block `head`, oldest first; `end` is the last offset (None: no slice)."""

    head: Multihash | None = None
    slices: tuple[ObjectRef, ...] = ()
    end: int | None = None


def read_history(folder: DatasetFolder) -> History:
    """The history at the head; `num_records` of its projection is not that of the dataset.

    Raises what reading the chain raises.
    """
    head = folder.head()
    if head is None:
        return History.of(())
    keys = key_blocks(folder)
    known = _continued(folder, head, _remembered(folder))
    if known.end != Projection.of(keys).last_offset:
        known = _continued(folder, head, _Known())
    return History.resumed(keys, known.slices)


def _continued(folder: DatasetFolder, head: Multihash, known: _Known) -> _Known:
    """What is known with the blocks after it, or of the whole chain where it is about another one."""
    current: Multihash | None = head
    new: list[DataSlice] = []
    blocks = 0
    while current is not None and current != known.head:
        block = folder.read_block(current)
        data = new_slice(block)
        if data is not None:
            new.append(data)
        current, blocks = block.block.prev_block_hash, blocks + 1
    before = _Known() if current is None else known
    found = _Known(
        head,
        (*before.slices, *map(_ref, reversed(new))),
        new[0].offset_interval.end if new else before.end,
    )
    if blocks > _WORTH_BLOCKS:
        _remember(folder, found)
    return found


def _ref(data: DataSlice) -> ObjectRef:
    return ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)


def _remember(folder: DatasetFolder, known: _Known) -> None:
    lines = [f"{known.head} {known.end}", *(f"{ref.hash} {ref.size}" for ref in known.slices)]
    content = "\n".join(lines).encode("ascii")
    if len(content) > _MOST_BYTES:
        return
    with contextlib.suppress(OSError):  # whoever may only read the dataset reads its chain each time
        path = folder.path / "info" / _FILE
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content, durable=False)


def _remembered(folder: DatasetFolder) -> _Known:
    """What the file says; nothing where it is missing or damaged."""
    try:
        with (folder.path / "info" / _FILE).open("rb") as file:
            lines = [line.split(" ") for line in file.read(_MOST_BYTES).decode("ascii").split("\n")]
        return _read(lines)
    except (OSError, UnicodeDecodeError, InvalidInput, ValueError):
        return _Known()


def _read(lines: Sequence[list[str]]) -> _Known:
    (head, end), *slices = lines
    refs = tuple(ObjectRef(ObjectKind.DATA_SLICE, Multihash.parse(name), int(size)) for name, size in slices)
    return _Known(Multihash.parse(head), refs, None if end == "None" else int(end))
