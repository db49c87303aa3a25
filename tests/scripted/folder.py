"""A dataset as a folder in the layout of the specification, read and written without the library."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tests.scripted.block_peek import Peek, peek

PLACES = {"DataSlice": "data", "Checkpoint": "checkpoints"}


def physical_hash(data: bytes) -> str:
    return "f1620" + hashlib.sha3_256(data).hexdigest()


@dataclass
class Folder:
    root: Path

    def head(self) -> str | None:
        path = self.root / "refs" / "head"
        return path.read_text() if path.exists() else None

    def set_head(self, block_hash: str) -> None:
        self._write(self.root / "refs" / "head", block_hash.encode())

    def block(self, block_hash: str) -> bytes:
        return (self.root / "blocks" / block_hash).read_bytes()

    def has_block(self, block_hash: str) -> bool:
        return (self.root / "blocks" / block_hash).exists()

    def put_block(self, block_hash: str, data: bytes) -> None:
        assert physical_hash(data) == block_hash, "block bytes do not hash to their name"
        self._write(self.root / "blocks" / block_hash, data)

    def object_path(self, kind: str, object_hash: str) -> Path:
        return self.root / PLACES[kind] / object_hash

    def put_object(self, kind: str, object_hash: str, data: bytes) -> None:
        assert physical_hash(data) == object_hash, "object bytes do not hash to their name"
        self._write(self.object_path(kind, object_hash), data)

    def chain(self, tail: str | None = None, head: str | None = None) -> list[tuple[str, bytes, Peek]]:
        """Blocks after `tail` up to the head, oldest first; the whole chain if `tail` is not met."""
        found: list[tuple[str, bytes, Peek]] = []
        current = head or self.head()
        while current is not None and current != tail:
            data = self.block(current)
            facts = peek(data)
            found.append((current, data, facts))
            current = facts.prev
        return found[::-1]

    def files(self) -> dict[str, bytes]:
        """Everything that both sides must have alike: blocks, checkpoints, data, refs."""
        return {
            f"{place}/{path.name}": path.read_bytes()
            for place in ("blocks", "checkpoints", "data", "refs")
            for path in sorted((self.root / place).glob("*"))
        }

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def plan(blocks: list[tuple[str, bytes, Peek]]) -> dict[str, int]:
    """The transfer plan in the names of the deployed dialect (wire page 3.2)."""
    objects = [item for _, _, facts in blocks for item in facts.objects]
    return {
        "num_blocks": len(blocks),
        "num_objects": len(objects),
        "num_records": sum(facts.records for _, _, facts in blocks),
        "bytes_in_raw_blocks": sum(len(data) for _, data, _ in blocks),
        "bytes_in_raw_objects": sum(size for _, _, size in objects),
    }
