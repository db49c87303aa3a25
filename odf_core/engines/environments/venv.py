"""Makes a Python environment, and fills it by pip as this machine has it configured."""

import os
import re
import signal
import subprocess
import sys
import venv
from collections import deque
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from odf_core.engines.environments.errors import EngineInstallFailed
from odf_core.engines.environments.records import PYTHON_FOLDER, python_of
from odf_core.transform.port import Say

_QUIET = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
_LAST_LINES = 12
_LINE_CHARS = 200
_OF_CALLER = frozenset(
    {
        "PIP_PREFIX",
        "PIP_PYTHON",
        "PIP_REQUIRE_VIRTUALENV",
        "PIP_ROOT",
        "PIP_TARGET",
        "PIP_USER",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "VIRTUAL_ENV",
    }
)
"""Variables that would lead Python or pip elsewhere than into the environment."""
_ADDRESSES = (
    re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]*://\S+"),
    re.compile(r"(?<=host=)(['\"]).*?\1"),
    re.compile(r"(?<=resolve )(['\"]).*?\1"),
    re.compile(r"(?<=located at )\S+"),
)
_INDEX_LINES = re.compile(r"Looking in (indexes|links)", re.IGNORECASE)


def make_venv(folder: Path, say: Say) -> Path:
    """An environment below `folder`; gives its Python. It gets no pip where this program has one."""
    say("making a Python environment")
    try:
        venv.EnvBuilder(symlinks=True, with_pip=not _has_pip()).create(folder / PYTHON_FOLDER)
    except (OSError, subprocess.SubprocessError) as error:
        raise EngineInstallFailed(
            f"Python {sys.version.split()[0]} cannot make an environment in {folder}: {error}. It needs "
            f"its modules venv and ensurepip (on Debian and Ubuntu the package python3-venv) and room on "
            f"the disk."
        ) from error
    return python_of(folder)


def run_pip(python: Path, arguments: list[str], say: Say) -> None:
    """Runs pip for the environment of `python`; its lines are said. Raises `EngineInstallFailed`.

    pip's own settings hold (files, `PIP_*`), such as which registry it asks; addresses are told to nobody.
    """
    pip = (
        [sys.executable, "-I", "-m", "pip", "--python", str(python)]
        if _has_pip()
        else [str(python), "-m", "pip"]
    )
    environment = {name: value for name, value in os.environ.items() if name not in _OF_CALLER}
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        with (
            subprocess.Popen(  # noqa: S603 - pip, with arguments of ours
                [*pip, arguments[0], *_QUIET, *arguments[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=environment,
                cwd=python.parent,
                start_new_session=True,
            ) as process
        ):
            try:
                for line in process.stdout or ():
                    _hear(line, last, say)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # it has a child that does the work
                raise
    except OSError as error:
        raise EngineInstallFailed(f"pip cannot be run: {error}.") from error
    if process.returncode != 0:
        raise EngineInstallFailed(
            f"pip ended with status {process.returncode}; its last words: {' / '.join(last) or '(none)'}",
            extras={"status": process.returncode, "lines": list(last)},
        )


def without_addresses(line: str) -> str:
    """The line without addresses of registries, which may hold names and passwords."""
    for pattern in _ADDRESSES:
        line = pattern.sub("<address>", line)
    return line


def _hear(line: str, last: deque[str], say: Say) -> None:
    if _INDEX_LINES.search(line):
        return
    words = without_addresses("".join(char for char in line if char.isprintable())).strip()[:_LINE_CHARS]
    if words:
        last.append(words)
        say(words)


def _has_pip() -> bool:
    return find_spec("pip") is not None
