"""A recorded step beside the same step evaluated anew: what they say differently."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from odf_core.metadata import Checkpoint, DataSlice, ExecuteTransform, ExecuteTransformInput
from odf_core.transform.plan import PlannedInput, PlannedStep


@dataclass(frozen=True, slots=True)
class StepDifference:
    """One property of a step, named as in manifests: what the chain says and what comes out."""

    field: str
    recorded: str | int | None
    recomputed: str | int | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object."""
        return {"field": self.field, "recorded": self.recorded, "recomputed": self.recomputed}

    def __str__(self) -> str:
        return f"{self.field} is {_shown(self.recorded)}, not {_shown(self.recomputed)}"


def input_differences(step: PlannedStep, event: ExecuteTransform) -> Iterator[StepDifference]:
    """Inputs that are not those of the query, go on elsewhere than the last step ended, or name other
    offsets than their blocks hold."""
    last = step.before.last_query
    for number, (planned, taken) in enumerate(zip(step.inputs, event.query_inputs, strict=False)):
        where = f"queryInputs[{number}]"
        known = last.query_inputs[number] if last is not None and number < len(last.query_inputs) else None
        expected = _true_input(planned, known)
        for name in ("dataset_id", "prev_block_hash", "new_block_hash", "prev_offset", "new_offset"):
            yield from _compared(f"{where}.{_camel(name)}", getattr(taken, name), getattr(expected, name))
    if len(step.inputs) != len(event.query_inputs):
        yield StepDifference("queryInputs", len(event.query_inputs), len(step.inputs))


def outcome_differences(
    event: ExecuteTransform, found: ExecuteTransform, *, checkpoint: bool
) -> Iterator[StepDifference]:
    """What followed from the inputs; physical hash and size of the slice are the writer's own affair, and
    the bytes of checkpoints, unless `checkpoint` says that equal states have equal ones."""
    yield from _compared("prevOffset", event.prev_offset, found.prev_offset)
    yield from _compared("prevCheckpoint", event.prev_checkpoint, found.prev_checkpoint)
    yield from _slice_differences(event.new_data, found.new_data)
    yield from _compared("newWatermark", event.new_watermark, found.new_watermark)
    if checkpoint or (event.new_checkpoint is None) != (found.new_checkpoint is None):
        yield from _compared(
            "newCheckpoint.physicalHash", _hash(event.new_checkpoint), _hash(found.new_checkpoint)
        )


def _true_input(planned: PlannedInput, last: ExecuteTransformInput | None) -> ExecuteTransformInput:
    """What a coordinator says that reads from where the last step ended to the recorded block."""
    chain, taken = planned.chain, planned.taken
    prev_block = None if last is None else last.new_block_hash or last.prev_block_hash
    before = chain.until(taken.prev_block_hash).last_offset
    after = chain.until(taken.new_block_hash or taken.prev_block_hash).last_offset
    return ExecuteTransformInput(
        dataset_id=chain.dataset_id,
        prev_block_hash=prev_block,
        new_block_hash=None if taken.new_block_hash == prev_block else taken.new_block_hash,
        prev_offset=before,
        new_offset=after if after != before else None,
    )


def _slice_differences(recorded: DataSlice | None, recomputed: DataSlice | None) -> Iterator[StepDifference]:
    yield from _compared("newData.offsetInterval", _interval(recorded), _interval(recomputed))
    if recorded is not None and recomputed is not None:
        yield from _compared("newData.logicalHash", recorded.logical_hash, recomputed.logical_hash)


def _compared(field: str, recorded: object, recomputed: object) -> Iterator[StepDifference]:
    if recorded != recomputed:
        yield StepDifference(field, _value(recorded), _value(recomputed))


def _value(value: object) -> str | int | None:
    return value if value is None or isinstance(value, int) else str(value)


def _interval(data: DataSlice | None) -> str | None:
    return None if data is None else f"{data.offset_interval.start} to {data.offset_interval.end}"


def _hash(checkpoint: Checkpoint | None) -> str | None:
    return None if checkpoint is None else str(checkpoint.physical_hash)


def _shown(value: object) -> str:
    return "not there" if value is None else str(value)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
