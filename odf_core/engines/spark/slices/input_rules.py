"""What columns an input may have (data.md 3.4)."""

from pyspark.sql import types as T

from odf_core.ingest.merge_errors import BadInputSchema
from odf_core.ingest.merge_job import Names, Strategy


def check_input(schema: T.StructType, strategy: Strategy, names: Names) -> None:
    """Raises `BadInputSchema` for system columns, duplicates, and an event time that is no time."""
    forbidden = [names.offset, names.system_time]
    if not strategy.takes_operations:
        forbidden.append(names.operation_type)
    present = [item.name for item in schema.fields]
    for name in forbidden:
        if name in present:
            raise BadInputSchema(
                f"The input has a column {name!r}, which is a system column of the dataset; rename it in "
                f"the read schema or in a preprocess query.",
                objects=[name],
            )
    twice = sorted({name for name in present if present.count(name) > 1})
    if twice:
        raise BadInputSchema(f"The input has several columns {twice[0]!r}; name each once.", objects=twice)
    for item in schema.fields:
        if item.name == names.event_time and not isinstance(
            item.dataType, T.DateType | T.TimestampType | T.TimestampNTZType
        ):
            raise BadInputSchema(
                f"The event time column {item.name!r} is {item.dataType.simpleString()}, but must be a date "
                f"or a timestamp; say its type in the read schema or cast it in a preprocess query.",
                objects=[item.name],
            )
