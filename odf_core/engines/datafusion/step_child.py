"""`python -m odf_core.engines.datafusion.step_child`: one call about a transformation, behind fences.

Standard input has a `StepRequest` as JSON, standard output gets a `StepAnswer`.
"""

import sys
from pathlib import Path

import msgspec

from odf_core.engines.datafusion.calls import StepAnswer, StepRequest
from odf_core.engines.datafusion.child import fence_off
from odf_core.errors import OdfError


def main() -> None:
    """Answers one request."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=StepRequest)
    fence_off([Path(file) for file in request.files], Path(request.folder), request.memory_bytes)
    from odf_core.engines.datafusion.step import answer  # behind the fences

    try:
        told = answer(request)
    except OdfError as error:
        told = StepAnswer(error=error.diagnostics())
    sys.stdout.buffer.write(msgspec.json.encode(told))


if __name__ == "__main__":
    main()
