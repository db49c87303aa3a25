"""`${{ env.NAME }}` in URLs and headers: secrets stay out of the manifest."""

import re

from odf_core.ingest.errors import InvalidFetchStep
from odf_core.ingest.fetch.values import FetchContext

_PLACEHOLDER = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_VARIABLE = re.compile(r"env\.([A-Za-z_][A-Za-z0-9_]*)")


def expand(text: str, context: FetchContext, where: str) -> str:
    """`text` with each `${{ env.NAME }}` replaced by the variable; of `env.A || env.B` the first that is set.

    Raises `InvalidFetchStep` for other templates and for variables that are not set, and
    `FetchNotAllowed` for those that the policy keeps back. Values are not looked at again.
    """
    return _PLACEHOLDER.sub(lambda match: _value(match[1], context, where), text)


def _value(expression: str, context: FetchContext, where: str) -> str:
    names = []
    for term in expression.split("||"):
        match = _VARIABLE.fullmatch(term.strip())
        if match is None:
            raise InvalidFetchStep(
                f"The {where} of the fetch step has a template {expression.strip()[:100]!r}; "
                "only ${{ env.NAME }} is known."
            )
        context.policy.require_variable(match[1])
        names.append(match[1])
    for name in names:
        if name in context.environment:
            return context.environment[name]
    raise InvalidFetchStep(
        f"The {where} of the fetch step needs the environment variable {' or '.join(names)}, "
        "which is not set."
    )
