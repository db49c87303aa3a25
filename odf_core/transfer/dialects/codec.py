"""From text to value and back, one codec for each message of a dialect."""

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

import orjson
from pydantic import BaseModel

from odf_core.limits import Limits
from odf_core.transfer.dialects.fields import Json
from odf_core.transfer.dialects.reading import read_model, top_level_keys
from odf_core.transfer.errors import TooManyObjects, UnexpectedMessage
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.messages import Message
from odf_core.transfer.model import ObjectsRequest

T = TypeVar("T")


class Codec(Protocol[T]):
    """Reads and writes one kind of message."""

    @property
    def markers(self) -> frozenset[str]:
        """Top-level fields without which a text is not this message."""

    @property
    def fields(self) -> frozenset[str]:
        """All top-level fields that are read."""

    @property
    def schema(self) -> type[BaseModel]:
        """The message as a model, for its JSON Schema."""

    def decode(self, data: bytes, limits: Limits) -> T:
        """Value of a text; raises MalformedMessage and the leaves of what it holds."""

    def encode(self, value: T) -> TextMessage:
        """Text of a value."""


class WireModel(Protocol[T]):
    """A pydantic model that knows its value of `transfer.model`."""

    def value(self) -> T: ...

    @classmethod
    def of(cls, value: T, /) -> Json: ...


class ModelCodec(Generic[T]):
    """A small message: its model does all the work."""

    def __init__(self, message: Message[T], model: type[Any]) -> None:
        self._message = message
        self._model: type[WireModel[T]] = model
        self.schema: type[BaseModel] = model
        named = {field.alias or name: field for name, field in self.schema.model_fields.items()}
        self.fields = frozenset(named)
        self.markers = frozenset(name for name, field in named.items() if field.is_required())
        self.foreign: frozenset[str] = frozenset()

    def decode(self, data: bytes, limits: Limits) -> T:
        """Value of a text."""
        refuse_foreign(data, self._message, self.foreign)
        read: Any = read_model(self.schema, data, self._message)
        value: T = read.value()
        if isinstance(value, ObjectsRequest) and len(value.objects) > limits.objects_per_request:
            raise TooManyObjects(
                f"At most {limits.objects_per_request} objects can be asked for at once, "
                f"not {len(value.objects)}; ask in parts."
            )
        return value

    def encode(self, value: T) -> TextMessage:
        """Text of a value."""
        return TextMessage(orjson.dumps(self._model.of(value)))


class EmptyCodec(Generic[T]):
    """`{}`: any object, but for one with the fields of another message of the dialect."""

    markers: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    def __init__(self, message: Message[T], value: T, schema: type[BaseModel]) -> None:
        self._message = message
        self._value = value
        self.schema = schema
        self.foreign: frozenset[str] = frozenset()

    def decode(self, data: bytes, limits: Limits) -> T:
        """The value, if the text is an object without foreign fields."""
        refuse_foreign(data, self._message, self.foreign)
        return self._value

    def encode(self, value: T) -> TextMessage:
        """`{}`."""
        return TextMessage(b"{}")


def refuse_foreign(data: bytes, message: Message[Any], foreign: frozenset[str]) -> None:
    """Raises UnexpectedMessage for an object with fields that only other messages have.

    The deployed peers take every object for an empty message and skip what they do not know; here a
    message out of turn would be taken for a wish to commit, or to pull (wire.md 3.1).
    """
    found = top_level_keys(data, message) & foreign
    if found:
        raise UnexpectedMessage(f"A {message} is due, but a message with {', '.join(sorted(found))} came.")


def tell_apart(codecs: Mapping[Message[Any], Codec[Any]]) -> None:
    """Lets the messages of a dialect know the fields of all its others."""
    required = frozenset[str]().union(*(codec.markers for codec in codecs.values()))
    for codec in codecs.values():
        if isinstance(codec, EmptyCodec | ModelCodec):
            codec.foreign = required - codec.fields
