"""Rules about data, checkpoints and the inputs of transforms: 18, 19, 22 to 34 of metadata.md 6."""

from itertools import zip_longest

from odf_core.chain.errors import InvalidEvent, NoOpEvent, WatermarkNotMonotonic
from odf_core.chain.facts import ChainFacts
from odf_core.identity import Multihash
from odf_core.metadata import AddData, Checkpoint, ExecuteTransform, ExecuteTransformInput


def check_data_event(event: AddData | ExecuteTransform, facts: ChainFacts, block: Multihash) -> None:
    """Raises the refusal of the first rule that the event breaks after `facts`."""
    last = facts.last_data
    if last is not None:
        _check_continuation(event, last, block)
    if event.new_data is not None and facts.schema is None:
        raise InvalidEvent(
            f"Block {block} adds data, but no SetDataSchema comes before it.",
            rule=22 if isinstance(event, AddData) else 25,
            block=block,
        )
    if isinstance(event, AddData):
        _check_checkpoint(event, facts.last_add_data, block, rule=23)
        _check_add_data_advances(event, facts.last_add_data, block)
    else:
        _check_inputs(event, facts, block)
        if facts.last_query is not None:
            for new, old in zip(event.query_inputs, facts.last_query.query_inputs, strict=False):
                _check_input_interval(new, old, block)
        _check_checkpoint(event, facts.last_query, block, rule=33)
        _check_query_advances(event, facts.last_query, block)


def last_offset(event: AddData | ExecuteTransform) -> int | None:
    """Offset of the last record of the dataset after the event, None while there is none."""
    return event.prev_offset if event.new_data is None else event.new_data.offset_interval.end


def _check_continuation(
    event: AddData | ExecuteTransform, last: AddData | ExecuteTransform, block: Multihash
) -> None:
    old = last.new_watermark
    if old is not None and (event.new_watermark is None or event.new_watermark < old):
        raise WatermarkNotMonotonic(
            f"Block {block} has watermark {event.new_watermark}, but the data block before it has {old}; "
            "a watermark never goes back and is repeated in every data block.",
            rule=18,
            block=block,
        )
    expected = last_offset(last)
    if event.prev_offset != expected:
        raise InvalidEvent(
            f"Block {block} continues offset {event.prev_offset}, but the last offset of the chain is "
            f"{expected}.",
            rule=19,
            block=block,
        )


def _hash(checkpoint: Checkpoint | None) -> Multihash | None:
    return None if checkpoint is None else checkpoint.physical_hash


def _check_checkpoint(
    event: AddData | ExecuteTransform,
    last: AddData | ExecuteTransform | None,
    block: Multihash,
    *,
    rule: int,
) -> None:
    expected = None if last is None else _hash(last.new_checkpoint)
    if event.prev_checkpoint != expected:
        raise InvalidEvent(
            f"Block {block} starts from checkpoint {event.prev_checkpoint}, but the last event of its kind "
            f"left {expected}; a checkpoint is repeated in every event.",
            rule=rule,
            block=block,
            objects=(item for item in (event.prev_checkpoint, expected) if item is not None),
        )


def _check_add_data_advances(event: AddData, last: AddData | None, block: Multihash) -> None:
    if (
        event.new_data is None
        and _hash(event.new_checkpoint) == event.prev_checkpoint
        and event.new_watermark == (None if last is None else last.new_watermark)
        and event.new_source_state == (None if last is None else last.new_source_state)
    ):
        raise NoOpEvent(
            f"AddData in block {block} has no data and leaves checkpoint, watermark and source state as "
            "they were.",
            rule=24,
            block=block,
        )


def _check_query_advances(event: ExecuteTransform, last: ExecuteTransform | None, block: Multihash) -> None:
    if (
        event.new_data is None
        and _hash(event.new_checkpoint) == event.prev_checkpoint
        and event.new_watermark == (None if last is None else last.new_watermark)
        and all(source.new_block_hash is None for source in event.query_inputs)
    ):
        raise NoOpEvent(
            f"ExecuteTransform in block {block} has no data and leaves inputs, checkpoint and watermark as "
            "they were.",
            rule=34,
            block=block,
        )


def _check_inputs(event: ExecuteTransform, facts: ChainFacts, block: Multihash) -> None:
    """Rules 26 and 27.

    The walk back gives up its search for a SetTransform once it has met both a schema and a query, so
    a transform that is older than both is not looked at; the inputs of the last query, which had to
    agree with it, stand in.
    """
    query = facts.last_query
    given_up_at = min(facts.schema_at, facts.last_query_at)
    if facts.transform_inputs is not None and facts.transform_at > given_up_at:
        expected = facts.transform_inputs
    elif query is not None:
        expected = tuple(source.dataset_id for source in query.query_inputs)
    else:
        raise InvalidEvent(
            f"ExecuteTransform in block {block} is not preceded by a SetTransform.", rule=27, block=block
        )
    for new, dataset_id in zip_longest(event.query_inputs, expected):
        if new is None or new.dataset_id != dataset_id:
            raise InvalidEvent(
                f"ExecuteTransform in block {block} has to list its inputs in the order of the SetTransform; "
                f"where {dataset_id or 'no more input'} is due, it has {new.dataset_id if new else 'none'}.",
                rule=26,
                block=block,
                objects=(item for item in (new and new.dataset_id, dataset_id) if item is not None),
            )


def _check_input_interval(new: ExecuteTransformInput, old: ExecuteTransformInput, block: Multihash) -> None:
    """Rules 28 to 32: an input continues where the last query left it."""
    last_block = old.prev_block_hash if old.new_block_hash is None else old.new_block_hash
    last = old.prev_offset if old.new_offset is None else old.new_offset
    rule, fault = 0, ""
    if new.new_block_hash is not None and new.new_block_hash == new.prev_block_hash:
        rule, fault = 28, f"ends at the block {new.new_block_hash} that it starts after"
    elif new.new_offset is not None and new.new_offset == new.prev_offset:
        rule, fault = 29, f"ends at the offset {new.new_offset} that it starts after"
    elif new.prev_block_hash != last_block:
        rule, fault = (
            30,
            f"starts after block {new.prev_block_hash}, but the last query ended at {last_block}",
        )
    elif new.prev_offset != last:
        rule, fault = 31, f"starts after offset {new.prev_offset}, but the last query ended at {last}"
    elif new.new_offset is not None and new.new_block_hash is None:
        rule, fault = 32, f"takes records up to offset {new.new_offset}, but no blocks"
    if rule:
        raise InvalidEvent(
            f"Input {new.dataset_id} of the ExecuteTransform in block {block} {fault}.",
            rule=rule,
            block=block,
            objects=(new.dataset_id,),
        )
