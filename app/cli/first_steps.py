"""What a node that has just started says on its terminal, and the sample that it gives itself."""

import shlex
import sys
import threading
from pathlib import Path

import structlog

from app.sample.publish import publish_sample, sample_url
from app.settings import Settings
from odf_core.errors import OdfError

_log = structlog.get_logger(__name__)


def introduce(address: str, settings: Settings) -> None:
    """Print the node's address; an embedded node then publishes its sample, which takes a request to
    itself and therefore a thread, and says how to pull it."""
    _say(f"Node:   {address}")
    if settings.embedded.enabled:
        threading.Thread(target=_offer_sample, args=(address, settings), daemon=True).start()


def _offer_sample(address: str, settings: Settings) -> None:
    try:
        publish_sample(address, settings)
    except OdfError as error:
        _log.warning("the sample could not be published", code=error.code, message=error.message)
        return
    _say(f"Sample: {sample_command(sample_url(address, settings))}")


def sample_command(url: str) -> str:
    """What to paste into a shell in order to have the sample, wherever the shell and the node are."""
    odf = shlex.quote(_own_name())
    return f"{odf} init my-datasets && cd my-datasets && {odf} pull {shlex.quote(url)}"


def _own_name() -> str:
    """The command as it can be typed in any folder."""
    program = Path(sys.argv[0])
    return str(program.absolute()) if program.name == "odf" and program.is_file() else "odf"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
