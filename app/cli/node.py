"""A node's adapters for one command, with or without a running node beside it."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from app.cli.settings_options import settings_from
from app.context import NodeContext
from app.node_services import NodeServices, reachable_services
from app.ops.logs import configure_logging

T = TypeVar("T")

Options = tuple[str | None, bool | None, str | None]
"""`--config`, `--embedded`, `--data-dir`."""


@contextmanager
def node_services(options: Options) -> Iterator[NodeServices]:
    """The services of the node that the options name; they run while the block does."""
    config, embedded, data_dir = options
    settings = settings_from(config, embedded, data_dir)
    if embedded is None and settings.database.url is None and settings.embedded.data_dir.is_dir():
        own = settings.embedded.model_copy(update={"enabled": True})
        settings = settings.model_copy(update={"embedded": own})
    log = {"format": "console"} if sys.stderr.isatty() else {}
    configure_logging(settings.log.model_copy(update={"level": "warning", **log}))
    with reachable_services(settings) as ready:
        yield ready


def on_node(options: Options, action: Callable[[NodeContext], Awaitable[T]], *, migrate: bool = False) -> T:
    """The result of `action` on the node that the options name.

    An embedded database gets its schema first, as a start of the node would give it; another one only
    with `migrate`.
    """
    from app.database import database_url, upgrade

    with node_services(options) as services:
        if migrate or services.settings.embedded.enabled:
            upgrade(database_url(services.settings.database))
        return asyncio.run(_act(services, action))


async def _act(services: NodeServices, action: Callable[[NodeContext], Awaitable[T]]) -> T:
    from app.wiring import open_node

    async with open_node(services.settings, services.open_bucket) as node:
        return await action(node)
