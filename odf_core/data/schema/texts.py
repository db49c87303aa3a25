"""Texts in an Arrow schema that came from outside."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa


def read_texts(fields: Iterable[Any]) -> None:
    """Raises `UnicodeDecodeError` for a name or a time zone that is no UTF-8.

    pyarrow decodes them only when they are asked for, which may be far from where the bytes were read.
    """
    for field in fields:
        _ = field.name
        if pa.types.is_timestamp(field.type):
            _ = field.type.tz
        read_texts(field.type.field(index) for index in range(field.type.num_fields))
