"""The project's builder interface over the `flatbuffers` library: a second writer to compare with."""

from typing import Any

import flatbuffers


class LibraryBuilder:
    """Has the methods of `odf_core.metadata.codec.builder.Builder`."""

    def __init__(self) -> None:
        self._builder: Any = flatbuffers.Builder(64)

    def byte_vector(self, data: bytes) -> int:
        return int(self._builder.CreateByteVector(data))

    def string(self, data: bytes) -> int:
        return int(self._builder.CreateString(data))

    def offset_vector(self, targets: list[int]) -> int:
        self._builder.StartVector(4, len(targets), 4)
        for target in reversed(targets):
            self._builder.PrependUOffsetTRelative(target)
        return int(self._builder.EndVector())

    def start_table(self) -> None:
        self._builder.StartObject(16)

    def scalar(self, slot: int, data: bytes) -> None:
        self.struct(slot, data, len(data))

    def struct(self, slot: int, data: bytes, alignment: int) -> None:
        builder = self._builder
        builder.Prep(alignment, len(data))
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data
        builder.Slot(slot)

    def offset(self, slot: int, target: int) -> None:
        self._builder.PrependUOffsetTRelative(target)
        self._builder.Slot(slot)

    def end_table(self) -> int:
        return int(self._builder.EndObject())

    def finish(self, root: int) -> bytes:
        self._builder.Finish(root)
        return bytes(self._builder.Output())
