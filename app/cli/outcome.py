"""How the command ends: one exit code per family of errors, one sentence on standard error."""

import json
import sys
from typing import Any, ClassVar

from odf_core.errors import InternalError, InvalidInput, OdfError

OK = 0
USAGE = 2
"""Wrong options or arguments; typer ends the command with it."""
INTERRUPTED = 130
EXIT_CODES = {
    "internal": 1,
    "invalid_input": 3,
    "not_found": 4,
    "access": 5,
    "conflict": 6,
    "integrity": 7,
    "chain": 8,
    "protocol": 9,
    "limit": 10,
    "unavailable": 11,
    "unknown": 12,
}
"""Exit code of each family of `odf_core.errors`; stable, documented in docs/cli.md."""

_SHOWN_OBJECTS = 20


class SystemRefusal(InvalidInput):
    """A file or folder that a command was given cannot be used."""

    code: ClassVar[str] = "system_refusal"


def exit_code(error: OdfError) -> int:
    """The exit code of an error's family."""
    return EXIT_CODES.get(error.family, EXIT_CODES["internal"])


def report(error: OdfError, *, as_json: bool) -> int:
    """Tell an error on standard error: `error: <sentence>`, its objects and code, or with `-o json` its
    diagnostics as one object. Returns the exit code."""
    facts = error.diagnostics()
    text = json.dumps(facts, ensure_ascii=False, default=str) if as_json else _sentence(facts)
    sys.stderr.write(text + "\n")
    return exit_code(error)


def _sentence(facts: dict[str, Any]) -> str:
    lines = [f"error: {facts['message']}"]
    objects = [item for item in facts["objects"] if item not in facts["message"]]
    lines += [f"  object: {item}" for item in objects[:_SHOWN_OBJECTS]]
    if len(objects) > _SHOWN_OBJECTS:
        lines.append(f"  and {len(objects) - _SHOWN_OBJECTS} more")
    lines.append(f"  code: {facts['code']}")
    return "\n".join(lines)


def unexpected(error: Exception) -> OdfError:
    """An exception that no adapter has turned into an error of ours: told by its kind, without a trace."""
    if isinstance(error, OSError) and error.strerror:
        path = error.filename if isinstance(error.filename, str) else None
        about = f" ({path})" if path else ""
        return SystemRefusal(f"The system refuses: {error.strerror}{about}.", objects=[path] if path else [])
    first_line = next(iter(str(error).splitlines()), "")[:200]
    return InternalError(
        f"This program failed ({type(error).__name__}: {first_line}); run it with --debug to see where."
    )
