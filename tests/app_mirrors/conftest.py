"""A node that datasets are pushed to, and a second one with a worker, which mirrors them."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.ops.logs import configure_logging
from app.settings import LogSettings
from tests.fixtures_node import shared_node
from tests.ingesting import IngestNode
from tests.node_worker import running_worker, worker_settings
from tests.running_node import running_node
from tests.services import Addresses, fresh_bucket, fresh_database

__all__ = ["second_node", "shared_node"]


@pytest.fixture(scope="module")
def second_node(
    services: Addresses, s3_client: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IngestNode]:
    """With an account `alice` of its own; it asks for news all the time."""
    folder = tmp_path_factory.mktemp("second")
    bucket = fresh_bucket(services.s3, s3_client)
    with fresh_database(services) as url:
        settings = worker_settings(
            url, bucket, folder, mirrors={"poll_seconds": 0.2}, transform={"retry_seconds": 1}
        )
        # Its polls meet other nodes of this process at any time: their logs must not be in what a test reads.
        configure_logging(LogSettings(level="warning"))
        with running_node(settings) as node, running_worker(settings, folder) as worker:
            yield IngestNode(node, worker, node.token_of("alice"))
