"""The lies that a publisher may tell about a step; each changes a copy and names the block that lies."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import combinations, pairwise

import pyarrow as pa

from odf_core.metadata import MetadataBlock, SetTransform, SqlQueryStep, Timestamp
from odf_core.transform.chains import InputChain
from tests.replay.tampering import Copy

Lie = Callable[[Copy, random.Random, InputChain], int]
_OTHER_QUERIES = {
    "k <> 'left out'": ("k <> 'b'", "k <> 'left out' and coalesce(n, 0) <> 5", "true"),
    "sum(v) as v": ("max(v) as v", "sum(v * 2) as v"),
}


def changed_value(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = _any_step(copy, random_)
    copy.change(place, new_data=copy.put(_other_value(copy.table(place), random_)))
    return place


def null_moved(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """A null and the number after it change places, the number 256 times as large: the same item stream."""
    places = {place: _nulls_before_numbers(copy.table(place)) for place in copy.steps}
    place = random_.choice([place for place, rows in places.items() if rows])
    row = random_.choice(places[place])
    table = copy.table(place)
    numbers = table["n"].to_pylist()
    numbers[row], numbers[row + 1] = numbers[row + 1] * 256, None
    told = copy.event(place).new_data
    forged = copy.put(_with(table, "n", numbers))
    assert forged.logical_hash == told.logical_hash
    copy.change(place, new_data=forged)
    return place


def forged_file(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = _any_step(copy, random_)
    honest = copy.event(place).new_data.logical_hash
    forged = copy.put(_other_value(copy.table(place), random_))
    copy.change(place, new_data=replace(forged, logical_hash=honest))
    return place


def dropped_row(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = random_.choice(copy.steps[2:])
    table = copy.table(place)
    row = random_.randrange(len(table))
    kept = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
    offsets = table["offset"].slice(0, len(kept))
    copy.change(place, new_data=copy.put(kept.set_column(0, table.schema.field(0), offsets)))
    return place


def swapped_pair(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = _any_step(copy, random_)
    table = copy.table(place)
    rows = [repr(row) for row in table.drop(["offset"]).to_pylist()]
    pairs = [(one, two) for one, two in combinations(range(len(rows)), 2) if rows[one] != rows[two]]
    one, two = random_.choice(pairs)
    order = list(range(len(table)))
    order[one], order[two] = two, one
    swapped = table.take(order).set_column(0, table.schema.field(0), table["offset"])
    copy.change(place, new_data=copy.put(swapped))
    return place


def forged_watermark(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = _any_step(copy, random_)
    moment = copy.event(place).new_watermark.to_datetime() + timedelta(minutes=random_.randrange(1, 9))
    copy.change(place, new_watermark=Timestamp.from_datetime(moment))
    return place


def wrong_interval(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Fewer offsets than the blocks hold, or a block earlier or later than was read."""
    place = random_.choice(copy.steps[1:-1])
    (taken,) = copy.event(place).query_inputs
    kind = random_.choice(["offset", "earlier", "later"])
    if kind == "offset":
        wrong = replace(taken, new_offset=taken.new_offset - random_.randrange(1, 9))
    else:
        names = [block.hash for block in root.blocks]
        at = names.index(taken.new_block_hash) + (1 if kind == "later" else -1)
        wrong = replace(taken, new_block_hash=names[at], new_offset=root.until(names[at]).last_offset)
    copy.change(place, query_inputs=(wrong,))
    return place


def another_query(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """In the place of the true one, or before a later step."""
    event: SetTransform = copy.event(1)
    ((part, others),) = [
        item for item in _OTHER_QUERIES.items() if item[0] in event.transform.queries[0].query
    ]
    text = event.transform.queries[0].query.replace(part, random_.choice(others))
    other = replace(event, transform=replace(event.transform, queries=(SqlQueryStep(query=text),)))
    place = random_.choice([copy.steps[0], *copy.steps[-2:]])
    if place == copy.steps[0]:
        copy.blocks[1] = replace(copy.blocks[1], event=other)
        return place
    told = MetadataBlock(
        system_time=copy.blocks[place - 1].system_time,
        prev_block_hash=None,
        sequence_number=place,
        event=other,
    )
    copy.blocks.insert(place, told)
    return place + 1


def _any_step(copy: Copy, random_: random.Random) -> int:
    return random_.choice(copy.steps)


def _other_value(table: pa.Table, random_: random.Random) -> pa.Table:
    column, row = random_.choice(["k", "v", "n"]), random_.randrange(len(table))
    values = table[column].to_pylist()
    old = values[row]
    if column == "v":  # also where == sees no difference
        values[row] = -old if old is not None and old == old else random_.choice([0.0, 3.5])
    elif column == "n":
        values[row] = 9 if old is None else random_.choice([None, old + 1])
    else:
        values[row] = random_.choice([None, "", f"{old}."])
    return _with(table, column, values)


def _with(table: pa.Table, column: str, values: list) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(values, field.type))


def _nulls_before_numbers(table: pa.Table) -> list[int]:
    pairs = enumerate(pairwise(table["n"].to_pylist()))
    return [row for row, (one, two) in pairs if one is None and two]
