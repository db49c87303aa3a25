"""The schema that a chain declares, in either of its two forms."""

from odf_core.data.schema.from_arrow import arrow_schema_to_odf
from odf_core.data.schema.raw_read import read_raw_arrow_schema
from odf_core.metadata import DataSchema, SetDataSchema


def declared_schema(event: SetDataSchema | None) -> DataSchema | None:
    """The schema of the event, None where there is none.

    Raises `InvalidRawArrowSchema`, `UnsupportedArrowType`.
    """
    if event is None:
        return None
    if event.schema is not None:
        return event.schema
    return arrow_schema_to_odf(read_raw_arrow_schema(event.raw_arrow_schema or b""))
