"""Further lies: about what is left out, brought in, remembered, or meant by a column."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.metadata import (
    AddData,
    DataTypeInt64,
    DataTypeOption,
    ExecuteTransform,
    SetTransform,
    Timestamp,
)
from odf_core.transform.chains import InputChain
from tests.replay.tampering import Copy


def added_row(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """One row twice."""
    place = random_.choice(copy.steps)
    table = copy.table(place)
    row = random_.randrange(len(table))
    more = pa.concat_tables([table, table.slice(row, 1)])
    start = table["offset"][0].as_py()
    copy.change(place, new_data=copy.put(_with(more, "offset", range(start, start + len(more)))))
    return place


def withheld_data(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """A step that claims to give nothing."""
    place = random_.choice(copy.steps)
    copy.change(place, new_data=None)
    return place


def left_out_step(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The next step claims to have read what this one read, and gives its own rows only."""
    place = random_.choice(copy.steps[1:-1])
    del copy.blocks[place]
    return place


def invented_step(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Rows from no input at all."""
    place = random_.choice(copy.steps[:-1])
    told: ExecuteTransform = copy.event(place)
    inputs = tuple(replace(item, new_block_hash=None, new_offset=None) for item in told.query_inputs)
    made = replace(copy.blocks[place], event=replace(told, query_inputs=inputs))
    copy.blocks.insert(place + 1, made)
    return place + 1


def exchanged_slices(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Two steps give each other's rows, with the system time of their own."""
    one, two = random_.choice(list(zip(copy.steps, copy.steps[1:], strict=False)))
    tables = copy.table(one), copy.table(two)
    for place, table in ((one, tables[1]), (two, tables[0])):
        moment = copy.blocks[place].system_time.to_datetime()
        start = tables[0]["offset"][0].as_py()
        offsets = _with(table, "offset", range(start, start + len(table)))
        copy.change(place, new_data=copy.put(_with(offsets, "system_time", [moment] * len(table))))
    return one


def shifted_offsets(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The dataset begins later than with its first offset; what follows fits."""
    copy.before_first = random_.randrange(1000)
    return copy.steps[0]


def shifted_in_the_file(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Other offsets in the file than in its block."""
    place = random_.choice(copy.steps)
    table, told = copy.table(place), copy.event(place).new_data
    shifted = copy.put(_with(table, "offset", pc.add(table["offset"], random_.randrange(1, 9)).to_pylist()))
    copy.change(place, new_data=replace(shifted, offset_interval=told.offset_interval))
    return place


def reordered_correction(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The new value before the old one."""
    places = {place: _corrections(copy.table(place)) for place in copy.steps}
    place = random_.choice([place for place, rows in places.items() if rows])
    row = random_.choice(places[place])
    table = copy.table(place)
    order = list(range(len(table)))
    order[row], order[row + 1] = row + 1, row
    copy.change(place, new_data=copy.put(_with(table.take(order), "offset", table["offset"].to_pylist())))
    return place


def changed_operation(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """An appended row that says it is a retraction, or the other way round."""
    place = random_.choice(copy.steps)
    table = copy.table(place)
    row = random_.randrange(len(table))
    operations = table["op"].to_pylist()
    operations[row] = 1 if operations[row] != 1 else 0
    copy.change(place, new_data=copy.put(_with(table, "op", operations)))
    return place


def other_system_time(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Rows that are older than the block that adds them."""
    place = random_.choice(copy.steps)
    table = copy.table(place)
    moment = copy.blocks[place].system_time.to_datetime() - timedelta(seconds=random_.randrange(1, 60))
    copy.change(place, new_data=copy.put(_with(table, "system_time", [moment] * len(table))))
    return place


def watermark_back(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Earlier than it was, but not before the one before; at the first step none at all."""
    place = random_.choice(copy.steps)
    if place == copy.steps[0]:
        copy.change(place, new_watermark=None)
        return place
    before = copy.event(copy.steps[copy.steps.index(place) - 1]).new_watermark.to_datetime()
    now = copy.event(place).new_watermark.to_datetime()
    earlier = before + (now - before) * random_.choice([0.0, 0.5])
    copy.change(place, new_watermark=Timestamp.from_datetime(earlier))
    return place


def exchanged_checkpoint(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """A checkpoint that is one, of an earlier step."""
    number = random_.randrange(1, len(copy.steps))
    place = copy.steps[number]
    earlier = copy.event(copy.steps[random_.randrange(number)])
    copy.change(place, new_checkpoint=earlier.new_checkpoint)
    return place


def unnamed_checkpoint(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Stored, but the block says that nothing was to be remembered."""
    place = random_.choice(copy.steps)
    copy.change(place, new_checkpoint=None)
    return place


def another_alias(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The same query over a table that is called otherwise."""
    event: SetTransform = copy.event(1)
    copy.change(1, inputs=tuple(replace(item, alias=f"{item.alias}_") for item in event.inputs))
    return copy.steps[0]


def another_schema(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The columns are declared to be what they are not; the first step is what this says something of."""
    declared = copy.event(2).schema
    fields = tuple(
        replace(item, type=DataTypeOption(inner=DataTypeInt64())) if item.name == "k" else item
        for item in declared.fields
    )
    copy.change(2, schema=replace(declared, fields=fields))
    return copy.steps[0]


def extra_column(copy: Copy, random_: random.Random, root: InputChain) -> int:
    place = random_.choice(copy.steps)
    table = copy.table(place)
    more = table.append_column("more", pa.array(range(len(table)), pa.int32()))
    copy.change(place, new_data=copy.put(more))
    return place


def other_unit(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The same times, counted in microseconds."""
    place = random_.choice(copy.steps)
    copy.change(place, new_data=copy.put(_cast(copy.table(place), "event_time", pa.timestamp("us", "UTC"))))
    return place


def dictionary_column(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """The same text, as numbers into a list of words; a logical hash that such a column cannot have."""
    place = random_.choice(copy.steps)
    kind = pa.dictionary(pa.int32(), pa.utf8())
    honest = copy.event(place).new_data
    copy.change(place, new_data=copy.put_as_it_is(_cast(copy.table(place), "k", kind), honest))
    return place


def data_not_computed(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Rows that no step has given, in a block that is none."""
    place = random_.choice(copy.steps)
    told: ExecuteTransform = copy.event(place)
    event = AddData(prev_offset=told.prev_offset, new_data=told.new_data, new_watermark=told.new_watermark)
    copy.blocks.insert(place + 1, replace(copy.blocks[place], event=event))
    return place + 1


def false_name(copy: Copy, random_: random.Random, root: InputChain) -> int:
    """Other bytes in the file than its name says."""
    place = random_.choice(copy.steps)
    path = copy.slice_path(copy.event(place).new_data)
    content = bytearray(path.read_bytes())
    content[random_.randrange(len(content))] ^= 1
    path.write_bytes(content)
    return place


def _with(table: pa.Table, column: str, values: Any) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(list(values), field.type))


def _cast(table: pa.Table, column: str, kind: pa.DataType) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place).with_type(kind)
    return table.set_column(place, field, table[column].cast(kind))


def _corrections(table: pa.Table) -> list[int]:
    """Rows with an old value that is followed by its new one."""
    operations = table["op"].to_pylist()
    return [row for row in range(len(operations) - 1) if operations[row : row + 2] == [2, 3]]
