"""The vocabulary in which the model is declared.

A table of the metadata is a frozen, slotted, keyword-only dataclass. The order of its fields is the
order of the slots; the annotation of a field says how its value is stored and written:

* `int` with a `Scalar` (the aliases `U64`, `U32`, `I32`), `bool`, an enumeration, `str`, `bytes`,
  `Timestamp`, `Multihash`, `DatasetId`, another table;
* `Annotated[A | B | …, UnionOf(name)]`: a union, its members numbered from 1 in this order;
* `tuple[X, ...]`: a vector;
* `… | None` with the default None: an optional field.

A union takes two slots, its type and its value. A vector of a union is a vector of wrapper tables.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, get_args


@dataclass(frozen=True, slots=True)
class Scalar:
    """Width and sign of an integer: the name of the FlatBuffers type."""

    name: str


@dataclass(frozen=True, slots=True)
class UnionOf:
    """Name of a union; with `short_form` manifests may give a member without properties as its bare name.

    The kind of a member in manifests is its class name without `prefix`.
    """

    name: str
    prefix: str
    short_form: bool = False
    wrapper: str | None = None
    """Name of the table that wraps a member where a vector holds them."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """A value that is stored as a string: how it is read from text, and what the text looks like.

    `parse` raises an OdfError; `str()` of the value gives the text back.
    """

    name: str
    parse: Callable[[str], Any]
    description: str


@dataclass(frozen=True, slots=True)
class FormerName:
    """The property's name in manifests of earlier versions, told apart by the JSON type of its value."""

    name: str
    json_type: type


U64: TypeAlias = Annotated[int, Scalar("uint64")]
U32: TypeAlias = Annotated[int, Scalar("uint32")]
I32: TypeAlias = Annotated[int, Scalar("int32")]


def members_of(union: Any) -> tuple[type, ...]:
    """The member classes of a union alias, in the order of their numbers (from 1)."""
    return tuple(get_args(get_args(union)[0])) or (get_args(union)[0],)


def union_of(union: Any) -> UnionOf:
    """The declaration of a union alias."""
    (declaration,) = (extra for extra in get_args(union)[1:] if isinstance(extra, UnionOf))
    return declaration


class PlainObject(ABC):
    """Base of a table that manifests write as a JSON object of any content, without kind or properties."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def from_object(cls, value: object) -> "PlainObject":
        """Reads the JSON object; raises an OdfError."""

    @abstractmethod
    def to_object(self) -> dict[str, Any]:
        """The JSON object."""
