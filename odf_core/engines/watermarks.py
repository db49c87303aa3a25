"""Watermarks of a step: each input's latest, and the least of them for the result (data.md 4.5).

A watermark is remembered for each input, so that one that says nothing in a step keeps its own; the result
has none before every input has one.
"""

from collections.abc import Mapping, Sequence

from odf_core.metadata import Timestamp
from odf_core.transform.request import TransformRequestInput


def advanced(known: Mapping[str, Timestamp], inputs: Sequence[TransformRequestInput]) -> dict[str, Timestamp]:
    """The watermarks by input after the step. An input that is read twice is one input."""
    found = dict(known)
    for item in inputs:
        name = str(item.dataset_id)
        for mark in item.explicit_watermarks:
            if name not in found or found[name] < mark.event_time:
                found[name] = mark.event_time
    return found


def least(
    watermarks: Mapping[str, Timestamp], inputs: Sequence[TransformRequestInput], before: Timestamp | None
) -> Timestamp | None:
    """The watermark of the result: never earlier than `before`."""
    names = {str(item.dataset_id) for item in inputs}
    if not names <= watermarks.keys():
        return before
    lowest = min(watermarks[name] for name in names)
    return lowest if before is None or lowest > before else before
