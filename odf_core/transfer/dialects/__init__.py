"""The two dialects of the Smart Transfer Protocol, and which of them a connection speaks."""

from collections.abc import Sequence

from odf_core.transfer.dialects.base import Dialect
from odf_core.transfer.dialects.deployed import DEPLOYED, DeployedDialect
from odf_core.transfer.dialects.published import PUBLISHED, SUBPROTOCOL, PublishedDialect
from odf_core.transfer.errors import UnsupportedSubprotocol

DIALECTS: tuple[Dialect, ...] = (DEPLOYED, PUBLISHED)

_SHOWN = 5


def choose_dialect(offered: Sequence[str] | None) -> Dialect:
    """The dialect that a handshake settles (wire-published.md, end).

    `offered` are the subprotocols that the client named. None at all: the deployed dialect, whose 101
    must carry no subprotocol. Echo `dialect.subprotocol` if it is not None. Raises
    UnsupportedSubprotocol for offers without the one that is spoken here.
    """
    if not offered:
        return DEPLOYED
    if SUBPROTOCOL in offered:
        return PUBLISHED
    raise UnsupportedSubprotocol(
        f"None of the offered subprotocols is spoken here; offer {SUBPROTOCOL!r} or none.",
        objects=[name[:100] for name in offered[:_SHOWN]],
    )


def split_offer(header: str) -> list[str]:
    """Names in a `Sec-WebSocket-Protocol` header.

    WebSocket libraries refuse the published name, because `/` is no token character; so the header is
    read here, at its commas only.
    """
    return [name.strip() for name in header.split(",") if name.strip()]


__all__ = [
    "Dialect",
    "DEPLOYED",
    "DeployedDialect",
    "PUBLISHED",
    "PublishedDialect",
    "DIALECTS",
    "SUBPROTOCOL",
    "choose_dialect",
    "split_offer",
]
