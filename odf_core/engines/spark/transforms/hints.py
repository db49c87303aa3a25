"""What a query may ask of the engine in a comment of the form `/*+ … */`."""

import re

_ON_CLOSE = re.compile(r"/\*\+\s*EMIT_ON_CLOSE\s*\*/", re.IGNORECASE)


def without_hints(query: str) -> tuple[str, bool]:
    """The query with blanks where a hint was, and whether it asks for windows only once they are closed."""
    found = _ON_CLOSE.search(query)
    if found is None:
        return query, False
    return _ON_CLOSE.sub(lambda hint: " " * len(hint.group()), query), True
