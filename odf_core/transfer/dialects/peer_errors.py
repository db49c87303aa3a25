"""Errors that a peer told, as values of the same classes and codes that were raised there."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from odf_core.chain import InvalidInterval
from odf_core.errors import (
    AccessDenied,
    ChainViolation,
    Conflict,
    IntegrityError,
    InternalError,
    InvalidInput,
    LimitExceeded,
    NotFound,
    OdfError,
    OutcomeUnknown,
    ProtocolViolation,
    Unavailable,
)
from odf_core.identity import DatasetId, Multihash
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.errors import (
    HeadMoved,
    NameCollision,
    PeerFailure,
    RefCollision,
    SeedOverwriteRestricted,
)

_MOST_CHARS = 8192
_MOST_OBJECTS = 1000
_MOST_OBJECT_CHARS = 300

FAMILIES: Mapping[str, type[OdfError]] = {
    family.family: family
    for family in (
        InvalidInput,
        LimitExceeded,
        IntegrityError,
        ChainViolation,
        NotFound,
        AccessDenied,
        Conflict,
        ProtocolViolation,
        Unavailable,
        OutcomeUnknown,
        InternalError,
    )
}


def peer_error(
    code: str,
    message: str,
    objects: Iterable[object] = (),
    extras: Mapping[str, Any] | None = None,
    family: str | None = None,
) -> OdfError:
    """The error of this code: its own class where the facts are there, else its family under its code.

    `family` is what the peer told, for codes that are not known here. With neither, it becomes
    PeerFailure, which keeps the code in `extras["peer_code"]`.
    """
    facts = dict(extras or {})
    message = _shown(message, _MOST_CHARS)
    objects = [_shown(str(item), _MOST_OBJECT_CHARS) for item in islice(objects, _MOST_OBJECTS)]
    rebuild = _REBUILDERS.get(code)
    rebuilt = None if rebuild is None else _attempt(rebuild, facts)
    if rebuilt is not None:
        return rebuilt
    leaf = FAMILIES.get(PEER_CODES.get(code) or family or "")
    if leaf is None:
        return PeerFailure(
            f"The node failed: {message or code}", objects=objects, extras={**facts, "peer_code": code}
        )
    error = leaf(message, objects=objects, extras=facts)
    # The family's instance takes the leaf's code: a client need not know the class to act on it.
    vars(error)["code"] = code
    return error


def _shown(text: str, most: int) -> str:
    """A peer's text on one line, without control characters, cut to `most` of them."""
    line = "".join(char if char.isprintable() else " " for char in text[: most + 1])
    return line if len(line) <= most else line[:most] + "…"


def _attempt(rebuild: Callable[[dict[str, Any]], OdfError | None], facts: dict[str, Any]) -> OdfError | None:
    try:
        return rebuild(facts)
    except OdfError:
        # The facts are not what they are named; the sentence of the peer says enough.
        return None


def _hash(facts: Mapping[str, Any], name: str) -> Multihash | None:
    text = facts.get(name)
    return Multihash.parse(text) if isinstance(text, str) else None


def _head_moved(facts: dict[str, Any]) -> OdfError | None:
    prefix = facts.get("actual_head_prefix")
    if "actual_head" not in facts and prefix is None:
        return None
    return HeadMoved(
        _hash(facts, "expected_head"),
        _hash(facts, "actual_head"),
        actual_prefix=prefix if isinstance(prefix, str) else None,
    )


def _invalid_interval(facts: dict[str, Any]) -> OdfError | None:
    tail = _hash(facts, "tail")
    if tail is None:
        return None
    return InvalidInterval(_hash(facts, "head"), tail, _hash(facts, "common_ancestor"))


def _name_collision(facts: dict[str, Any]) -> OdfError | None:
    alias = facts.get("dataset_alias")
    return NameCollision(alias) if isinstance(alias, str) else None


def _ref_collision(facts: dict[str, Any]) -> OdfError | None:
    dataset_id = facts.get("dataset_id")
    return RefCollision(DatasetId.parse(dataset_id)) if isinstance(dataset_id, str) else None


_REBUILDERS: Mapping[str, Callable[[dict[str, Any]], OdfError | None]] = {
    "head_moved": _head_moved,
    "invalid_interval": _invalid_interval,
    "name_collision": _name_collision,
    "ref_collision": _ref_collision,
    "seed_overwrite_restricted": lambda _facts: SeedOverwriteRestricted(),
}
