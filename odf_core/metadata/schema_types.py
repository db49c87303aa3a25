"""The schema of a dataset's records, as the deployed implementation writes it (metadata.md 1, "New tables").

Each type is a table of its own; types without properties are empty tables.
"""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.metadata.declare import I32, U32, U64, UnionOf
from odf_core.metadata.enums import TimeUnit
from odf_core.metadata.extra import ExtraAttributes


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeBinary:
    """Bytes, of one length if `fixed_length` is given."""

    fixed_length: U64 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeBool:
    """True or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeDate:
    """A calendar day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeDecimal:
    """A decimal number of `precision` digits, `scale` of them after the point."""

    precision: U32
    scale: I32


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeDuration:
    """A length of time; without `unit` in milliseconds."""

    unit: TimeUnit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeFloat16:
    """IEEE 754 half precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeFloat32:
    """IEEE 754 single precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeFloat64:
    """IEEE 754 double precision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeInt8:
    """Signed, 8 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeInt16:
    """Signed, 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeInt32:
    """Signed, 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeInt64:
    """Signed, 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeUInt8:
    """Unsigned, 8 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeUInt16:
    """Unsigned, 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeUInt32:
    """Unsigned, 32 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeUInt64:
    """Unsigned, 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeList:
    """Items of one type, always as many if `fixed_length` is given."""

    item_type: "DataType"
    fixed_length: U64 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeMap:
    """Keys and values; `keys_sorted` says that each map is ordered by key."""

    key_type: "DataType"
    value_type: "DataType"
    keys_sorted: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeNull:
    """No value but null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeOption:
    """A value of the inner type, or null."""

    inner: "DataType"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeStruct:
    """Named fields in an order."""

    fields: "tuple[DataField, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeTime:
    """A time of day; without `unit` in milliseconds."""

    unit: TimeUnit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeTimestamp:
    """A moment; without `unit` in milliseconds, without `timezone` in UTC."""

    unit: TimeUnit | None = None
    timezone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTypeString:
    """UTF-8 text."""


DataType: TypeAlias = Annotated[
    DataTypeBinary
    | DataTypeBool
    | DataTypeDate
    | DataTypeDecimal
    | DataTypeDuration
    | DataTypeFloat16
    | DataTypeFloat32
    | DataTypeFloat64
    | DataTypeInt8
    | DataTypeInt16
    | DataTypeInt32
    | DataTypeInt64
    | DataTypeUInt8
    | DataTypeUInt16
    | DataTypeUInt32
    | DataTypeUInt64
    | DataTypeList
    | DataTypeMap
    | DataTypeNull
    | DataTypeOption
    | DataTypeStruct
    | DataTypeTime
    | DataTypeTimestamp
    | DataTypeString,
    UnionOf("DataType", prefix="DataType", short_form=True),
]
"""The type of a field or of its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataField:
    """A named field and its type."""

    name: str
    type: DataType
    extra: ExtraAttributes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSchema:
    """The fields of a record."""

    fields: tuple[DataField, ...]
    extra: ExtraAttributes | None = None
