"""Fixtures of a running node.

A conftest or a test module takes them by importing their names (with `# noqa: F401`).
"""

from collections.abc import Iterator
from typing import Any

import pytest

from app.settings import Settings
from tests.running_node import RunningNode, running_node, settings_for
from tests.services import Addresses, S3Bucket, fresh_bucket, fresh_database


@pytest.fixture
def node_settings(database_url: str, s3_bucket: S3Bucket) -> Settings:
    """Settings of a node with an empty database and an empty bucket of its own."""
    return settings_for(database_url, s3_bucket)


@pytest.fixture
def node(node_settings: Settings) -> Iterator[RunningNode]:
    """A running node with nothing in it."""
    with running_node(node_settings) as started:
        yield started


@pytest.fixture(scope="module")
def shared_node(services: Addresses, s3_client: Any) -> Iterator[RunningNode]:
    """One node for all tests of a module that do not disturb each other."""
    bucket = fresh_bucket(services.s3, s3_client)
    with fresh_database(services) as url, running_node(settings_for(url, bucket)) as started:
        yield started
