"""A node with one worker beside it and the engine of the run, for all tests of a module."""

from collections.abc import Iterator
from typing import Any

import pytest

from odf_core.engines.handle import SparkEngine
from tests.ingesting import IngestNode
from tests.node_worker import running_worker, worker_settings
from tests.running_node import running_node
from tests.services import Addresses, fresh_bucket, fresh_database
from tests.spark_fixture import spark_engine

__all__ = ["ingest_node", "spark_engine"]


@pytest.fixture(scope="module")
def ingest_node(
    services: Addresses, s3_client: Any, spark_engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IngestNode]:
    """The node, with the account `alice`; the policy lets manifests fetch from loopback."""
    folder = tmp_path_factory.mktemp("ingest")
    bucket = fresh_bucket(services.s3, s3_client)
    with fresh_database(services) as url:
        settings = worker_settings(url, bucket, folder, ingest={"allow": ["network:127.0.0.0/8"]})
        with running_node(settings) as node, running_worker(settings, folder) as worker:
            yield IngestNode(node, worker, node.token_of("alice"))
