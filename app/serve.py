"""A node from its settings to its end, with the services that it brings along.

Order of a start (stack.md 3.2): the listening socket first, so that a taken port is told before
anything else runs; then Postgres and S3, the schema, the application (`app.server`).
"""

import os
import signal
from collections.abc import Callable
from contextlib import closing

from app.node_services import running_services
from app.ops.logs import configure_logging
from app.server import bind, run_node
from app.settings import Settings
from app.workers import running_workers
from odf_core.errors import OdfError


def serve(settings: Settings, started: Callable[[str, Settings], None]) -> None:
    """Run a node until it is told to stop; `started` gets its address and settings when it listens.

    To be called in the main thread: the children of embedded mode end with the thread that started
    them. Raises `AddressUnusable`, the leaves of `app.embedded.errors`, `DatabaseUnavailable`,
    `SettingsInvalid`, and what made an embedded service be given up.
    """
    configure_logging(settings.log)
    failures: list[OdfError] = []

    def give_up(error: OdfError) -> None:
        failures.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    with (
        closing(bind(settings.http)) as listener,
        running_services(settings, give_up) as ready,
        running_workers(settings),
    ):
        run_node(
            ready.settings,
            open_bucket=ready.open_bucket,
            sockets=[listener],
            on_started=lambda address: started(address, ready.settings),
        )
    if failures:
        raise failures[0]
