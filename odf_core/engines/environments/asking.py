"""Asks an environment which engines it has, and whether one of them runs."""

import subprocess
from pathlib import Path

import msgspec

from odf_core.engines.contract import PROTOCOL, TELL
from odf_core.engines.environments.errors import EngineTellsNothing
from odf_core.engines.environments.records import Told
from odf_core.engines.environments.venv import without_addresses
from odf_core.engines.errors import EngineProtocolUnsupported

_SECONDS = 120
_WORDS = 300


def ask(python: Path) -> Told:
    """What the environment of `python` tells. Raises `EngineTellsNothing`, `EngineProtocolUnsupported`."""
    try:
        answer = subprocess.run(  # noqa: S603 - the environment that was just made
            [str(python), "-I", "-m", TELL],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            cwd=python.parent,
            check=False,
        )
        told = msgspec.json.decode(answer.stdout, type=Told)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineTellsNothing(f"The new environment cannot be asked for its engines: {error}.") from error
    except msgspec.MsgspecError as error:
        words = answer.stderr.decode(errors="replace").strip()[-_WORDS:].replace("\n", " ")
        raise EngineTellsNothing(
            f"The new environment does not tell which engines it has: it holds a release of odf-node from "
            f"before engines were installed side by side, or something else. "
            f"{without_addresses(words)}".rstrip()
        ) from error
    require_spoken(told)
    if not told.engines:
        raise EngineTellsNothing(
            "The new environment tells that it has no engine: neither PySpark nor DataFusion."
        )
    return told


def require_spoken(told: Told) -> None:
    """Raises `EngineProtocolUnsupported` where an environment's engines speak another protocol than we do."""
    if told.protocol != PROTOCOL:
        is_new = told.protocol > PROTOCOL
        raise EngineProtocolUnsupported(
            f"The engines of odf-node {told.program or '(no release)'} speak protocol {told.protocol}, and "
            f"this program speaks {PROTOCOL}: the release is too {'new' if is_new else 'old'} for it. "
            f"{'Update this program' if is_new else 'Use a program of that time'}, or have a version that "
            f"runs here declared equivalent (`odf engine deprecate`).",
            extras={"protocol": told.protocol, "spoken": PROTOCOL},
        )
