"""On which line of a text a part of its manifest stands; asked for only when something is wrong there."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import yaml

from odf_core.metadata.manifest.place import SHOWN_CHARS

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Step: TypeAlias = str | int


def line_of(text: str, document: int, place: Sequence[_Step]) -> int | None:
    """The line (from 1) of the part `place` of a document (from 0) of the text, or of the innermost part
    around it that is there; None where the text has no such document.

    A property stands on the line of its name, an item of an array where it begins. JSON is read as the
    YAML that it is.
    """
    wanted = tuple(place)
    best, line = -1, None
    for found, steps, at in _parts(text):
        if found == document and len(steps) > best and wanted[: len(steps)] == steps:
            best, line = len(steps), at
    return line


def _parts(text: str) -> Iterator[tuple[int, tuple[_Step, ...], int]]:
    """(document, place, line) of every property and item, until the text is no YAML any more."""
    document = -1
    stack: list[_Collection] = []
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.DocumentStartEvent):
                document += 1
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                stack.pop()
            elif isinstance(event, yaml.NodeEvent):
                steps = stack[-1].next_place(event) if stack else ()
                if steps is not None and event.start_mark is not None:
                    yield document, steps, event.start_mark.line + 1
                if isinstance(event, yaml.CollectionStartEvent):
                    held = stack[-1].held if stack else ()
                    stack.append(_Collection(held, isinstance(event, yaml.SequenceStartEvent)))
    except yaml.YAMLError:  # JSON that is no YAML, or a text that breaks off: what came before counts
        return


class _Collection:
    """A mapping or a sequence on the way: where it is, and which part of it comes next."""

    def __init__(self, place: tuple[_Step, ...], is_sequence: bool) -> None:
        self._place = place
        self._is_sequence = is_sequence
        self._count = 0
        self.held: tuple[_Step, ...] = place

    def next_place(self, event: Any) -> tuple[_Step, ...] | None:
        """The place that the event begins: an item or a property's name; None for a property's value."""
        number, self._count = self._count, self._count + 1
        if self._is_sequence:
            self.held = (*self._place, number)
            return self.held
        if number % 2:
            return None
        self.held = (*self._place, str(getattr(event, "value", ""))[:SHOWN_CHARS])
        return self.held
