"""Errors on the wire of the deployed dialect: variants, channels and 123 bytes (wire.md 3.6)."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from odf_core.chain import InvalidInterval
from odf_core.errors import IntegrityError, InvalidInput, LimitExceeded, OdfError, ProtocolViolation
from odf_core.identity import InvalidMultihash, Multihash
from odf_core.transfer.dialects.fields import Json
from odf_core.transfer.dialects.peer_errors import peer_error
from odf_core.transfer.dialects.reasons import clean, fit_reason, fits
from odf_core.transfer.errors import (
    HeadMoved,
    MessageTooLarge,
    NameCollision,
    PeerFailure,
    RefCollision,
    SeedOverwriteRestricted,
)
from odf_core.transfer.frames import CLOSE_INTERNAL, Outgoing, TextMessage
from odf_core.transfer.messages import (
    PULL_RESPONSE,
    PUSH_CONFIRMED,
    PUSH_METADATA_RESPONSE,
    PUSH_OBJECTS_RESPONSE,
    PUSH_RESPONSE,
    Message,
)
from odf_core.transfer.model import CloseFrame, Phase

Body = dict[str, str | None]

_CODED = re.compile(r"([a-z][a-z0-9_]{2,62})(?:: (.*))?", re.DOTALL)
_CUT_HASH = re.compile(r"(f[0-9a-f]{5,68})…")


@dataclass(frozen=True)
class Rule:
    """An error that has a variant of its own in the answer `awaiting`; `body` may find it unfit (None)."""

    error: type[OdfError]
    awaiting: Message[Any]
    variant: str
    as_text: bool
    body: Callable[[Any], Body | None]


def _interval(error: InvalidInterval) -> Body | None:
    if error.head is None or error.tail is None:
        return None
    return {"head": str(error.head), "tail": str(error.tail)}


def _head(error: HeadMoved) -> Body:
    # The naming trap: `actual_head` is what the client claimed, `expected_head` the server's (wire.md 3.5).
    return {"actual_head": _text(error.expected), "expected_head": _text(error.actual)}


RULES: tuple[Rule, ...] = (
    Rule(InvalidInterval, PULL_RESPONSE, "InvalidInterval", True, _interval),
    Rule(HeadMoved, PUSH_RESPONSE, "InvalidHead", True, _head),
    Rule(
        SeedOverwriteRestricted, PUSH_METADATA_RESPONSE, "SeedBlockOverwriteRestricted", False, lambda _: {}
    ),
    Rule(
        RefCollision,
        PUSH_OBJECTS_RESPONSE,
        "RefCollision",
        False,
        lambda error: {"dataset_id": str(error.dataset_id)},
    ),
    Rule(
        NameCollision,
        PUSH_OBJECTS_RESPONSE,
        "NameCollision",
        False,
        lambda error: {"dataset_alias": error.alias},
    ),
)
"""Everything else is `Internal`: a text where a pull's plan is due, a close everywhere else."""


def encode(error: OdfError, awaiting: Message[Any], phase: Phase | None = None) -> Outgoing:
    """The one message or close frame that tells `error` to a client waiting for `awaiting`."""
    phase = phase or _phase(error, awaiting)
    for rule in RULES:
        if isinstance(error, rule.error) and awaiting is rule.awaiting:
            body = rule.body(error)
            told: Json = {"Err": {rule.variant: body}}
            if body is not None and rule.as_text:
                return TextMessage(orjson.dumps(told))
            if body is not None and fits(told):
                return CloseFrame(CLOSE_INTERNAL, orjson.dumps(told).decode("utf-8"))
    # What cannot be read as a message ends the connection at once (decisions of wire-published.md).
    if awaiting is PULL_RESPONSE and not isinstance(error, ProtocolViolation | MessageTooLarge):
        return TextMessage(orjson.dumps(_internal(phase, clean(_coded(error, error.message)))))
    return CloseFrame(CLOSE_INTERNAL, _reason(error, awaiting, phase))


def _phase(error: OdfError, awaiting: Message[Any]) -> Phase:
    # Blocks that cannot be read are told under the phase before, as the deployed server does.
    unreadable = isinstance(error, InvalidInput | LimitExceeded | IntegrityError | ProtocolViolation)
    return Phase.PUSH_INITIAL if awaiting is PUSH_METADATA_RESPONSE and unreadable else awaiting.phase


def deferred(error: OdfError, awaiting: Message[Any]) -> bool:
    """Whether the error's variant exists only in the answer after `awaiting` (wire.md 3.5, message 6)."""
    return awaiting is PUSH_METADATA_RESPONSE and isinstance(error, RefCollision | NameCollision)


def decode(data: bytes | str) -> OdfError | None:
    """The error of a text or close reason that is a Result's `Err`; None for any other text."""
    try:
        outer = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(outer, dict) or "Err" not in outer:
        return None
    told = outer["Err"]
    variant, body = next(iter(told.items()), ("", None)) if isinstance(told, dict) else (str(told), None)
    facts = body if isinstance(body, dict) else {}
    if variant == "Internal":
        return _told_internal(str(facts.get("error_message", "")), facts.get("phase"))
    if variant == "InvalidHead":
        facts = {"expected_head": facts.get("actual_head"), "actual_head": facts.get("expected_head")}
    code = _CODES.get(variant)
    if code is None:
        return PeerFailure(f"The node refused with the unknown error {variant[:100]!r}.")
    return peer_error(code, f"The node refused with {variant}.", extras=facts)


_CODES = {rule.variant: rule.error.code for rule in RULES}


def _told_internal(message: str, phase: object) -> OdfError:
    coded = _CODED.fullmatch(message)
    if coded is None:
        return PeerFailure(f"The node failed: {message}", extras={"phase": phase})
    code, rest = coded[1], coded[2] or ""
    extras: dict[str, object] = {"phase": phase}
    if code == HeadMoved.code:
        extras |= _told_head(rest)
    return peer_error(code, rest or message, extras=extras)


def _told_head(text: str) -> dict[str, object]:
    if text == "none":
        return {"actual_head": None}
    cut = _CUT_HASH.match(text)
    if cut is not None:
        return {"actual_head_prefix": cut[1]}
    try:
        return {"actual_head": str(Multihash.parse(text))}
    except InvalidMultihash:
        return {}


def _reason(error: OdfError, awaiting: Message[Any], phase: Phase) -> str:
    def build(message: str) -> Json:
        return _internal(phase, message)

    if not isinstance(error, HeadMoved):
        whole = clean(_coded(error, error.message))
        # A sentence that has to be cut gives way to the objects that it is about.
        return fit_reason(build, whole if fits(build(whole)) else _coded(error, _about(error)))
    told = _coded(error, _text(error.actual) or "none")
    if awaiting is PUSH_CONFIRMED:
        # The answer at the end has no fields of its own, so nobody misses the phase; without it the
        # whole head of the node fits (decisions of wire-published.md).
        return fit_reason(lambda message: {"Err": {"Internal": {"error_message": message}}}, told)
    return fit_reason(build, told)


def _about(error: OdfError) -> str:
    return ", ".join(error.objects) or error.message


def _internal(phase: Phase, message: str) -> Json:
    flow, step = phase.value
    return {"Err": {"Internal": {"phase": {flow: step}, "error_message": message}}}


def _coded(error: OdfError, message: str) -> str:
    return f"{error.code}: {message}"


def _text(head: Multihash | None) -> str | None:
    return None if head is None else str(head)
