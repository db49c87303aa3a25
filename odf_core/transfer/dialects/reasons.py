"""Close reasons: JSON that stays whole within the 123 bytes of a control frame (wire.md 3.6)."""

from collections.abc import Callable

import orjson

from odf_core.transfer.frames import MAX_REASON_BYTES

_CUT = "…"


def fit_reason(build: Callable[[str], object], text: str) -> str:
    """Compact JSON of `build(text)`; the text is cut, with an ellipsis, as far as the frame demands.

    Cuts between characters, counting each as its UTF-8 or its JSON escape.
    """
    text = clean(text)
    whole = orjson.dumps(build(text))
    if len(whole) <= MAX_REASON_BYTES:
        return whole.decode("utf-8")
    room = MAX_REASON_BYTES - len(orjson.dumps(build(_CUT)))
    kept = 0
    for char in text:
        room -= len(orjson.dumps(char)) - 2
        if room < 0:
            break
        kept += 1
    return orjson.dumps(build(text[:kept] + _CUT)).decode("utf-8")


def fits(value: object) -> bool:
    """Whether the compact JSON of `value` can be a reason as it is."""
    return len(orjson.dumps(value)) <= MAX_REASON_BYTES


def clean(text: str) -> str:
    """The text without lone surrogates, which no JSON text can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
