"""Rules about the columns of an input."""

from collections.abc import Sequence

from odf_core.ingest.read.errors import DuplicateInputColumn


def require_unique(names: Sequence[str], file: str) -> None:
    """Raises `DuplicateInputColumn` for the first name that comes twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DuplicateInputColumn.at(
                file, "two columns have this name; rename one of them in the input.", column=name
            )
        seen.add(name)
