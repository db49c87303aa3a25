"""Rules about sources: 1, 20 and 21 of metadata.md 6.

Rule 1 is this project's own: the deployed implementation does not take Disable events at all. Here a
source that is active may be disabled, and nothing else. Rules 20 and 21 stay as they are there, so
once a source has been disabled the dataset takes no new push source, and once a push source has been
added it takes no polling source: chains that the deployed implementation would refuse are not made.
"""

from collections.abc import Collection

from odf_core.chain.errors import InvalidEvent, NoOpEvent
from odf_core.chain.facts import ChainFacts
from odf_core.chain.likeness import alike
from odf_core.identity import Multihash
from odf_core.metadata import (
    AddPushSource,
    DisablePollingSource,
    DisablePushSource,
    MetadataEvent,
    SetPollingSource,
)


def check_source_event(event: MetadataEvent, facts: ChainFacts, block: Multihash) -> None:
    """Raises the refusal of the first rule that an event about sources breaks after `facts`."""
    if isinstance(event, AddPushSource):
        _check_push_source(event, facts, block)
    elif isinstance(event, SetPollingSource):
        if facts.push_sources:
            raise InvalidEvent(
                f"Block {block} sets a polling source, but push sources have been added before: "
                f"{_listed(facts.push_sources)}.",
                rule=21,
                block=block,
            )
    elif isinstance(event, DisablePollingSource):
        if not facts.polling_source_active:
            raise InvalidEvent(
                f"Block {block} disables the polling source, but none is active.", rule=1, block=block
            )
    elif isinstance(event, DisablePushSource) and event.source_name not in facts.active_push_sources:
        raise InvalidEvent(
            f"Block {block} disables the push source {event.source_name!r}, which is not active; active are: "
            f"{_listed(facts.active_push_sources)}.",
            rule=1,
            block=block,
        )


def _check_push_source(event: AddPushSource, facts: ChainFacts, block: Multihash) -> None:
    """Walking back, the nearest event that matters decides: a source of this name, or another turn."""
    known = facts.push_sources.get(event.source_name)
    turn = facts.last_source_turn
    if turn is not None and (known is None or turn.at > known.at):
        if isinstance(turn.event, SetPollingSource):
            raise InvalidEvent(
                f"Block {block} adds a push source while a polling source is active.", rule=20, block=block
            )
        raise InvalidEvent(
            f"Block {block} adds a push source after a source was disabled, which is not supported yet.",
            rule=20,
            block=block,
        )
    if known is not None and alike(known.event, event):
        raise NoOpEvent(
            f"Block {block} adds the push source {event.source_name!r} exactly as it is already.",
            rule=20,
            block=block,
        )


def _listed(names: Collection[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:5]) or "none"
