"""The three spellings of a variant that manifests may use (metadata.md 5.3)."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def spellings(variants: Iterable[tuple[str, T]]) -> Mapping[str, T]:
    """Every accepted spelling of each variant: `NdJson`, `ndJson` and `ndjson`."""
    table: dict[str, T] = {}
    for name, value in variants:
        for spelling in (name, name[:1].lower() + name[1:], name.lower()):
            table[spelling] = value
    return table
