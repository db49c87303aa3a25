"""The primary key under which the records of a dataset are a changelog."""

from odf_core.chain.projection import Projection
from odf_core.metadata import MergeStrategyAppend


def primary_key_of(state: Projection) -> tuple[str, ...] | None:
    """The key of the active source's merge strategy (data.md 6).

    None where there is none: for Append, without a source, and where push sources differ in their keys.
    """
    sources = [state.polling_source] if state.polling_source is not None else state.push_sources.values()
    strategies = [source.merge for source in sources]
    keys = {() if isinstance(item, MergeStrategyAppend) else tuple(item.primary_key) for item in strategies}
    return (keys.pop() or None) if len(keys) == 1 else None
