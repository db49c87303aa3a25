"""The schema that a read step declares."""

from typing import Any

from odf_core.data import ddl_schema_to_arrow, odf_schema_to_arrow
from odf_core.ingest.read.columns import require_unique
from odf_core.ingest.read.errors import InvalidReadOption
from odf_core.ingest.read.staged_types import staged_schema
from odf_core.metadata import ReadStep


def declared_schema(step: ReadStep) -> Any | None:
    """The staged `pa.Schema` of a read step, from DDL or from an ODF schema (data.md 3.2).

    None where it declares none (an empty list of DDL is none). Raises `InvalidDdlSchema`,
    `UnsupportedArrowType`, `InvalidReadOption`, `DuplicateInputColumn`.
    """
    if step.ddl_schema and step.schema is not None:
        raise InvalidReadOption("The read step has a DDL schema and an ODF schema; keep one of them.")
    if step.ddl_schema:
        schema = ddl_schema_to_arrow(step.ddl_schema)
    elif step.schema is not None:
        schema = odf_schema_to_arrow(step.schema)
    else:
        return None
    require_unique(schema.names, "schema of the read step")
    return staged_schema(schema)
