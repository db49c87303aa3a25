"""Which columns the result of a query has, and how they stand in a slice (data.md 4.5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from odf_core.engines.result_names import require_names
from odf_core.engines.spark.slices.carriers import arrow_type
from odf_core.engines.spark.transforms.nodes import LEAF, Expression, Node
from odf_core.engines.spark.transforms.shape import Shape, leaves
from odf_core.engines.transform_calls import SystemNames
from odf_core.transform.errors import InvalidQueryResult

INSTANT = pa.timestamp("ms", "UTC")


@dataclass(frozen=True, slots=True)
class Result:
    """Where the columns of a slice stand in the result of the query: the event time first, the others in
    their order. `schema` is that of the slice, system columns included."""

    schema: pa.Schema
    places: tuple[int, ...]
    names: SystemNames

    @property
    def columns(self) -> pa.Schema:
        """The columns that the query makes, as the slice has them."""
        return pa.schema(list(self.schema)[3:])


def result_of(
    schema: T.StructType, shape: Shape, names: SystemNames, inputs: Sequence[SystemNames]
) -> Result:
    """The columns of the slice; `inputs` has the system columns' names of each input by its number.

    Raises `InvalidQueryResult`, `UnsupportedColumnType`.
    """
    offset, op, system_time, event_time = names
    found = [item.name for item in schema.fields]
    require_names(found, offset, system_time, event_time)
    if op in found:
        _require_carried(shape, found.index(op), op, inputs)
    places = [found.index(event_time)]
    places += [place for place, name in enumerate(found) if name not in (event_time, op)]
    fields = [
        pa.field(offset, pa.int64(), nullable=False),
        pa.field(op, pa.int32(), nullable=False),
        pa.field(system_time, INSTANT, nullable=False),
    ]
    for place in places:
        kind = arrow_type(schema.fields[place].dataType, found[place])
        fields.append(pa.field(found[place], kind, nullable=found[place] != event_time))
    kind = fields[3].type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        raise InvalidQueryResult(
            f"The query gives {event_time} as {kind}; it has to be a timestamp or a date.",
            objects=[event_time],
        )
    return Result(pa.schema(fields), tuple(places), names)


def refuse_system_columns(shape: Shape, inputs: Sequence[SystemNames], number_of: Any) -> None:
    """A query with state looks at rows as they stand after all corrections: such a row has no single offset,
    operation or system time. Raises `InvalidQueryResult`."""
    if shape.is_linear:
        return
    for prefix in shape.prefixes:
        for leaf in leaves(prefix):
            hidden = {
                column.id: column.name for column in leaf.output if column.name in inputs[number_of(leaf)][:3]
            }
            used = {column.id for column in prefix.output}
            for node in (item for item in prefix.walk() if item.kind != LEAF):
                for top in node.expressions:
                    used |= {item.id for item in top.walk() if item.kind == "AttributeReference"}
            for id_, name in hidden.items():
                if id_ in used:
                    raise InvalidQueryResult(
                        f"The query groups, joins or compares rows and so works on what holds after all "
                        f"corrections, where {name} is not known; name the columns that it needs instead of "
                        f"{name} or *.",
                        objects=[name],
                    )


def _require_carried(shape: Shape, place: int, op: str, inputs: Sequence[SystemNames]) -> None:
    """Operations go through a query by themselves; one that names the column may only hand it on."""
    ops = {names[1] for names in inputs}
    column = shape.plan.output[place]
    if not shape.is_linear or column.id is None or not _is_copy(shape.plan, column.id, ops):
        raise InvalidQueryResult(
            f"The query computes {op}; retractions and corrections of the inputs go through by themselves, "
            f"so leave {op} out, or select it as it is.",
            objects=[op],
        )


def _is_copy(node: Node, id_: int, names: set[str]) -> bool:
    """Whether a column of a linear plan is a column of its inputs of one of these names, unchanged."""
    if node.kind == LEAF:
        return any(column.id == id_ and column.name in names for column in node.output)
    if node.kind == "Union":
        place = [column.id for column in node.output].index(id_)
        ids = [child.output[place].id for child in node.children]
        return all(
            below is not None and _is_copy(child, below, names)
            for child, below in zip(node.children, ids, strict=True)
        )
    below_id: int | None = id_
    if node.kind == "Project":
        below_id = next((_source(item) for item in node.expressions if item.id == id_), None)
    return below_id is not None and _is_copy(node.children[0], below_id, names)


def _source(expression: Expression) -> int | None:
    if expression.kind == "Alias":
        inner = expression.children[0]
        return inner.id if inner.kind == "AttributeReference" else None
    return expression.id
