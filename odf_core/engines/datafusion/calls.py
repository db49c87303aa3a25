"""What the process of a step is asked, and what it answers; both as JSON."""

from typing import Any, TypeAlias

import msgspec

from odf_core.engines.contract import PROTOCOL
from odf_core.engines.transform_calls import Query


class Validate(msgspec.Struct, tag="validate", frozen=True, kw_only=True):
    """Whether the query keeps the promise."""

    query: Query


class Execute(msgspec.Struct, tag="execute", frozen=True, kw_only=True):
    """A step: the `TransformRequest` as hexadecimal text of its FlatBuffers form."""

    request: str


class Migrate(msgspec.Struct, tag="migrate", frozen=True, kw_only=True):
    """From one query of ours to another; `checkpoint` is None where nothing was remembered."""

    old: Query
    new: Query
    checkpoint: str | None
    new_checkpoint: str


Call: TypeAlias = Validate | Execute | Migrate


class StepRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A call; the process may read `files` and write in `folder`. `identity` is the engine that is meant."""

    call: Call
    files: tuple[str, ...]
    folder: str
    memory_bytes: int
    protocol: int = PROTOCOL
    identity: str | None = None


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of a call before the rest: whether it can be read."""

    protocol: int = PROTOCOL


class Validated(msgspec.Struct, frozen=True, kw_only=True):
    """The columns that the query gives, as `pack_schema` has them."""

    columns: str


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A step: first and last offset, and the watermark as text."""

    interval: tuple[int, int] | None
    watermark: str | None


class StepAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of them; an error as `OdfError.diagnostics` has it, `died` how a process ended without an answer.
    All None: a migration."""

    error: dict[str, Any] | None = None
    died: str | None = None
    validated: Validated | None = None
    done: Done | None = None
