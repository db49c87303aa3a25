"""`python -m odf_core.engines.spark`: the engine's process.

By itself it serves in the foreground, as in a container of a deployed coordinator, with options from
`ODF_SPARK__*`. `--detached` is for `odf_core.engines.handle`: the options come as JSON on standard
input, the process leaves its parent and tells it by its exit status whether it listens.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from odf_core.engines.contract import PROTOCOL, require_protocol
from odf_core.errors import OdfError


def main() -> int:
    """Parses the command line and runs the engine; the exit status is for the shell."""
    parser = argparse.ArgumentParser(
        prog="python -m odf_core.engines.spark", description="The Spark engine of ODF."
    )
    parser.add_argument("--listen", metavar="ADDRESS", help="host:port or unix:path (default: 0.0.0.0:2884)")
    parser.add_argument(
        "--folder", metavar="PATH", type=Path, action="append", help="folder of requests' files"
    )
    parser.add_argument("--detached", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.detached:
        told = json.load(sys.stdin)
        try:
            require_protocol(told.get("protocol", PROTOCOL))
        except OdfError as error:
            print(error.message, file=sys.stderr)  # noqa: T201  the caller reads the log's last words
            return 1
        listening = _leave_parent()
        from odf_core.engines.spark.process import run_detached  # after the fork: gRPC wants it so

        return run_detached(told, listening)
    from odf_core.engines.spark.process import run_served

    return run_served(arguments.listen, arguments.folder)


def _leave_parent() -> int:
    """Forks; the parent waits until the child writes to the descriptor that is given, and exits."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        return writing
    os.close(writing)
    sys.stdout.flush()
    os._exit(0 if os.read(reading, 1) else 1)


if __name__ == "__main__":
    sys.exit(main())
