"""Names that the result of a transformation may have, whatever engine it is of (data.md 4.5)."""

from collections.abc import Sequence

from odf_core.transform.errors import InvalidQueryResult


def require_names(found: Sequence[str], offset: str, system_time: str, event_time: str) -> None:
    """Raises `InvalidQueryResult` for a system column that the engine adds, a name that occurs twice, and a
    result without event time."""
    for name in found:
        if name in (offset, system_time):
            raise InvalidQueryResult(
                f"The query gives a column {name}, which the engine itself adds; leave it out or give it "
                f"another name.",
                objects=[name],
            )
        if found.count(name) > 1:
            raise InvalidQueryResult(f"The query gives two columns named {name}.", objects=[name])
    if event_time not in found:
        raise InvalidQueryResult(
            f"The query gives no column {event_time}; every record needs the time at which it happened: "
            f"select or compute a timestamp or a date under this name.",
            objects=[event_time],
        )
