"""What a program and an engine of another release keep between them (docs/adr/0015).

Every call tells the protocol that it is written in, and where one version of an engine is meant, its
identity. An engine that speaks another protocol, or has become another one, refuses with a sentence.
"""

from odf_core.engines.errors import EngineIdentityDiffers, EngineProtocolUnsupported

PROTOCOL = 1
"""Raised by a change that an engine or a caller of before would misunderstand; what is added leaves it."""

TELL = "odf_core.engines.tell"
SPARK = "odf_core.engines.spark"
DATAFUSION = "odf_core.engines.datafusion.warm"
"""The modules that an environment is run by: their names, arguments and pipes belong to the protocol."""


def require_protocol(said: object) -> None:
    """Raises `EngineProtocolUnsupported` unless a call is written in the protocol that is spoken here."""
    if said != PROTOCOL:
        raise EngineProtocolUnsupported(
            f"The call is written in protocol {str(said)[:20]} of engines, and this engine speaks "
            f"{PROTOCOL}; use releases of odf-node for both that have a protocol in common.",
            extras={"protocol": PROTOCOL},
        )


def require_identity(meant: object, found: str) -> None:
    """Raises `EngineIdentityDiffers` where a call means another version than the one that it has reached."""
    if meant is not None and meant != found:
        raise EngineIdentityDiffers(
            f"The engine's environment was registered as {str(meant)[:80]} and is {found} now: something in "
            f"it was changed. Remove it (`odf engine remove`) and install it again.",
            objects=[found],
        )
