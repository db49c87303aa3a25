"""Fixtures on real services; see tests/services.py for how they live and die.

services      (session)  Addresses of Postgres and S3
s3_server     (session)  the S3 server: endpoint, key, .client()
s3_bucket                a fresh bucket on it
database_url             SQLAlchemy URL of a fresh database with all migrations
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.services import Addresses, RunServices, S3Bucket, S3Server, fresh_bucket, fresh_database
from tests.spark_fixture import engine_folder, stop_engine, take_folder

# A busy machine is no fault: tests have a time limit of their own (pyproject.toml).
settings.register_profile("odf", deadline=None)
settings.load_profile("odf")

_run = RunServices()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Under pytest-xdist: the controller starts the services and tells each worker where they are."""
    node.workerinput["odf_services"] = _run.addresses().to_values()
    node.workerinput["odf_engine"] = str(engine_folder())


def pytest_configure(config: pytest.Config) -> None:
    handed = getattr(config, "workerinput", None)
    if handed:
        take_folder(handed["odf_engine"])


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        stop_engine()
        _run.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def services(request: pytest.FixtureRequest) -> Addresses:
    handed = getattr(request.config, "workerinput", None)
    return Addresses.from_values(handed["odf_services"]) if handed else _run.addresses()


@pytest.fixture(scope="session")
def s3_server(services: Addresses) -> S3Server:
    return services.s3


@pytest.fixture(scope="session")
def s3_client(s3_server: S3Server) -> Iterator[Any]:
    """One boto3 client for the run: making one takes a third of a second."""
    client = s3_server.client()
    yield client
    client.close()


@pytest.fixture
def s3_bucket(s3_server: S3Server, s3_client: Any) -> S3Bucket:
    return fresh_bucket(s3_server, s3_client)


@pytest.fixture
def database_url(services: Addresses) -> Iterator[str]:
    with fresh_database(services) as url:
        yield url
