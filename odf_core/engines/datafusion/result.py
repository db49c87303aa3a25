"""Which columns a query gives, and how they stand in a slice (data.md 4.5)."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from odf_core.data import UnsupportedArrowType, arrow_schema_to_odf
from odf_core.engines.result_names import require_names
from odf_core.engines.transform_calls import SystemNames
from odf_core.transform.errors import InvalidQueryResult

INSTANT = pa.timestamp("ms", "UTC")
_OPERATIONS = frozenset({pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32()})


@dataclass(frozen=True, slots=True)
class Result:
    """Where the columns of a slice stand in the query's result: the event time first, then the others in
    their order; `op_place` is None where the query gives no operations. `schema` is that of the slice."""

    schema: pa.Schema
    places: tuple[int, ...]
    op_place: int | None
    names: SystemNames

    @property
    def columns(self) -> pa.Schema:
        """The columns that the query makes, as the slice has them."""
        return pa.schema(list(self.schema)[3:])

    def of(self, batch: Any) -> Any:
        """A batch of the result as operation and `columns`, in the slice's types. Raises
        `InvalidQueryResult`."""
        op_name, event_time = self.names[1], self.names[3]
        if self.op_place is None:
            ops: Any = pa.repeat(pa.scalar(0, pa.int32()), len(batch))
        else:
            ops = batch.column(self.op_place).cast(pa.int32())
        columns = [ops]
        columns += [
            _cast(batch.column(place), item.type)
            for place, item in zip(self.places, self.columns, strict=True)
        ]
        for name, column in ((op_name, columns[0]), (event_time, columns[1])):
            if column.null_count:
                raise InvalidQueryResult(
                    f"The query gives {column.null_count} records whose {name} is null; every record needs "
                    f"one.",
                    objects=[name],
                )
        fields = [pa.field(op_name, pa.int32(), nullable=False), *self.columns]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def result_of(schema: pa.Schema, names: SystemNames) -> Result:
    """The columns of the slice. Raises `InvalidQueryResult`."""
    offset, op, system_time, event_time = names
    found = [item.name for item in schema]
    require_names(found, offset, system_time, event_time)
    op_place = found.index(op) if op in found else None
    if op_place is not None and schema.field(op_place).type not in _OPERATIONS:
        raise InvalidQueryResult(
            f"The query gives {op} as {schema.field(op_place).type}; operations are integers of 32 bits.",
            objects=[op],
        )
    places = [found.index(event_time)]
    places += [place for place, name in enumerate(found) if name not in (event_time, op)]
    fields = [
        pa.field(offset, pa.int64(), nullable=False),
        pa.field(op, pa.int32(), nullable=False),
        pa.field(system_time, INSTANT, nullable=False),
    ]
    for place in places:
        item = schema.field(place)
        fields.append(pa.field(item.name, _plain(item.type), item.nullable and item.name != event_time))
    kind = fields[3].type
    if not (kinds.is_timestamp(kind) or kinds.is_date(kind)):
        raise InvalidQueryResult(
            f"The query gives {event_time} as {kind}; it has to be a timestamp or a date.",
            objects=[event_time],
        )
    made = pa.schema(fields)
    _check_types(made)
    return Result(made, tuple(places), op_place, names)


def _check_types(schema: pa.Schema) -> None:
    for item in schema:
        try:
            arrow_schema_to_odf(pa.schema([item]))
        except UnsupportedArrowType as error:
            raise InvalidQueryResult(
                f"The query gives {item.name} as {item.type}, which a dataset cannot have; cast it.",
                objects=[item.name],
            ) from error


def _plain(kind: Any) -> Any:
    """The type as slices have it: instants in milliseconds of UTC, nothing encoded."""
    if kinds.is_timestamp(kind):
        return INSTANT
    if kinds.is_dictionary(kind):
        return _plain(kind.value_type)
    if kind == pa.string_view():
        return pa.string()
    if kind == pa.binary_view():
        return pa.binary()
    if kinds.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if kinds.is_struct(kind):
        return pa.struct([item.with_type(_plain(item.type)) for item in kind.fields])
    return kind


def _cast(column: Any, kind: Any) -> Any:
    return column if column.type == kind else column.cast(kind, safe=False)
