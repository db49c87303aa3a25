"""What the next step of a derivative dataset reads, or what a recorded one read (data.md 4.1).

A step ends before an input's columns change: its blocks up to the new SetDataSchema or SetVocab are one
step, what follows the next, so that a query never sees one table with two schemas. A recorded step is
taken as it stands, also where the coordinator that made it went across such a change; its inputs then have
the schema of its last block.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from odf_core.chain import InvalidInterval, Projection, Vocabulary
from odf_core.data import declared_schema
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.metadata import (
    AddData,
    Checkpoint,
    DataSchema,
    ExecuteTransform,
    ExecuteTransformInput,
    OffsetInterval,
    SetDataSchema,
    SetTransform,
    SetVocab,
    StoredBlock,
    Timestamp,
    TransformSql,
)
from odf_core.transform.chains import InputChain
from odf_core.transform.errors import InputDiverged, TransformInputsChanged, TransformNotDefined
from odf_core.transform.request import Watermark


@dataclass(frozen=True, slots=True)
class PlannedInput:
    """What a step reads of one input: `taken` as the block will say it, `slices` in the order of offsets."""

    chain: InputChain
    query_alias: str
    taken: ExecuteTransformInput
    vocabulary: Vocabulary
    schema: DataSchema
    slices: tuple[ObjectRef, ...]
    watermarks: tuple[Watermark, ...]

    @property
    def offsets(self) -> OffsetInterval | None:
        """The new records, None where there are none."""
        end = self.taken.new_offset
        if end is None:
            return None
        prev = self.taken.prev_offset
        return OffsetInterval(start=0 if prev is None else prev + 1, end=end)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step. `migrates_from` is the query of the steps before, where this one has another."""

    before: Projection
    transform: TransformSql
    inputs: tuple[PlannedInput, ...]
    migrates_from: TransformSql | None = None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """What the engine remembered after the step before."""
        return self.before.last_checkpoint

    @property
    def next_offset(self) -> int:
        """The offset of the first new record."""
        last = self.before.last_offset
        return 0 if last is None else last + 1


def plan_next(
    before: Projection, inputs: Sequence[InputChain], *, changed_since: TransformSql | None = None
) -> PlannedStep | None:
    """The step that follows `before`, None where the inputs have nothing for it.

    `inputs` are in the order of the SetTransform; `changed_since` is the query of the last step where the
    present one is another. Raises `TransformNotDefined`, `InputDiverged`, `TransformInputsChanged`.
    """
    event = _transform_of(before)
    planned = []
    for number, chain in enumerate(inputs):
        prev = _read_before(before.last_query, number, chain)
        found = _next_of(chain, _alias(event, number, chain), prev)
        if found is None:
            return None
        planned.append(found)
    step = PlannedStep(before, event.transform, tuple(planned), changed_since)
    is_news = any(item.slices or item.watermarks for item in planned)
    return step if is_news or before.schema is None else None


def plan_recorded(
    before: Projection,
    event: ExecuteTransform,
    inputs: Sequence[InputChain],
    *,
    changed_since: TransformSql | None = None,
) -> PlannedStep:
    """The step that `event`, which follows `before`, recorded.

    Raises `TransformNotDefined`, `InputDiverged`, `TransformInputsChanged`.
    """
    transform = _transform_of(before)
    planned = []
    for number, (chain, taken) in enumerate(zip(inputs, event.query_inputs, strict=False)):
        state, blocks = _read(chain, taken.prev_block_hash, taken.new_block_hash)
        for block in blocks:
            state.feed(block)
        found = _planned(chain, _alias(transform, number, chain), taken, state, blocks)
        if found is None:
            raise InputDiverged(
                f"Input {chain.name} has no schema at the block that the step has read up to.",
                objects=[chain.dataset_id],
                extras={"input": str(chain.dataset_id), "block": str(taken.new_block_hash)},
            )
        planned.append(found)
    return PlannedStep(before, transform.transform, tuple(planned), changed_since)


def _transform_of(state: Projection) -> SetTransform:
    if state.transform is None:
        raise TransformNotDefined("The dataset has no SetTransform; only derivative datasets are computed.")
    return state.transform


def _alias(event: SetTransform, number: int, chain: InputChain) -> str:
    alias = event.inputs[number].alias if number < len(event.inputs) else None
    return alias or chain.name


def _read_before(
    last: ExecuteTransform | None, number: int, chain: InputChain
) -> ExecuteTransformInput | None:
    """How far the input has been read; None for not at all."""
    if last is None:
        return None
    taken = last.query_inputs[number] if number < len(last.query_inputs) else None
    if taken is None or taken.dataset_id != chain.dataset_id:
        raise TransformInputsChanged(
            f"The steps so far have read {taken.dataset_id if taken else 'no dataset'} where the query now "
            f"reads {chain.name}; make a new dataset for a query over other inputs.",
            objects=[chain.dataset_id],
        )
    return taken


def _next_of(chain: InputChain, alias: str, prev: ExecuteTransformInput | None) -> PlannedInput | None:
    """What is new in an input, as far as its columns stay the same; None where it has no schema yet."""
    prev_block = prev_offset = None
    if prev is not None:
        prev_block = prev.new_block_hash or prev.prev_block_hash
        prev_offset = prev.prev_offset if prev.new_offset is None else prev.new_offset
    state, blocks = _read(chain, prev_block, None)
    batch: list[StoredBlock] = []
    has_data = False
    for block in blocks:
        event = block.block.event
        if has_data and isinstance(event, SetDataSchema | SetVocab):
            break
        has_data = has_data or isinstance(event, AddData | ExecuteTransform)
        state.feed(block)
        batch.append(block)
    new_offset = state.last_offset
    taken = ExecuteTransformInput(
        dataset_id=chain.dataset_id,
        prev_block_hash=prev_block,
        new_block_hash=batch[-1].hash if batch else None,
        prev_offset=prev_offset,
        new_offset=new_offset if batch and new_offset != prev_offset else None,
    )
    return _planned(chain, alias, taken, state, batch)


def _read(
    chain: InputChain, after: Multihash | None, last: Multihash | None
) -> tuple[Projection, Sequence[StoredBlock]]:
    """The state after `after`, and the blocks from there to `last`."""
    try:
        return chain.until(after), chain.between(after, last)
    except InvalidInterval as error:
        raise InputDiverged(
            f"Input {chain.name} no longer has block {after if last is None else last}, up to which it was "
            f"read: it was reset or compacted. Verify it, then take "
            f"this dataset back to the block of its SetTransform (`odf reset`) and compute it anew.",
            objects=[chain.dataset_id],
            extras={"input": str(chain.dataset_id), "block": str(after)},
        ) from error


def _planned(
    chain: InputChain,
    alias: str,
    taken: ExecuteTransformInput,
    state: Projection,
    blocks: Sequence[StoredBlock],
) -> PlannedInput | None:
    schema = declared_schema(state.schema)
    if schema is None:
        return None
    slices, watermarks = [], []
    for block in blocks:
        event = block.block.event
        if not isinstance(event, AddData | ExecuteTransform):
            continue
        if event.new_data is not None:
            data = event.new_data
            slices.append(ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size))
        if event.new_watermark is not None:
            watermarks.append(_watermark(block.block.system_time, event.new_watermark))
    return PlannedInput(chain, alias, taken, state.vocabulary, schema, tuple(slices), tuple(watermarks))


def _watermark(system_time: Timestamp, event_time: Timestamp) -> Watermark:
    return Watermark(system_time=system_time, event_time=event_time)
