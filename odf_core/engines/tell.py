"""`python -m odf_core.engines.tell`: which engines this environment has, as JSON on standard output.

`protocol` is that of `odf_core.engines.contract`; nothing is started and no engine is loaded.
"""

import json
import platform
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from odf_core.engines.contract import PROTOCOL
from odf_core.engines.identity import datafusion_identity, datafusion_packages, spark_identity, spark_packages

DISTRIBUTION = "odf-node"

_ENGINES: Mapping[str, tuple[Callable[[], str], Callable[[], dict[str, str]]]] = {
    "spark": (spark_identity, spark_packages),
    "datafusion": (datafusion_identity, datafusion_packages),
}


def told() -> dict[str, Any]:
    """The answer; an engine whose packages are not here is left out."""
    engines = []
    for name, (identity, packages) in _ENGINES.items():
        try:
            engines.append({"name": name, "identity": identity(), "packages": packages()})
        except PackageNotFoundError:
            continue
    return {
        "protocol": PROTOCOL,
        "program": _program(),
        "python": platform.python_version(),
        "engines": engines,
    }


def _program() -> str | None:
    """The release; None for code that is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.stdout.write(json.dumps(told()) + "\n")
