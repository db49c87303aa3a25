"""Fixtures of the scenarios: nodes that live as long as a module, and four ways to drive them.

multi_world, single_world   a node of either tenancy with the usual settings
private_world               one on embedded services of its own
world                       each of the two in turn
person                      a fresh account on `world`
driver                      our client and the scripted one, in both dialects
speaker                     the scripted client message by message, in either dialect
unique, at, foo             a text of the test's own; from it the name and the dataset of wire.md 8
"""

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.drivers import DRIVERS, Driver
from tests.scenarios.speakers import SPEAKERS, Speaker
from tests.scenarios.world import NodeWorld, Person, embedded_world, node_world
from tests.scripted.websocket import RawWebSocket
from tests.services import Addresses

FULL = bool(os.environ.get("ODF_TEST_FULL"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tenancy changes addresses and rights, not messages: the published dialect meets one kind of node,
    unless ODF_TEST_FULL is set."""
    doubled = [item for item in items if not FULL and _is_doubled(item)]
    if doubled:
        config.hook.pytest_deselected(items=doubled)
        items[:] = [item for item in items if item not in set(doubled)]


def _is_doubled(item: pytest.Item) -> bool:
    params = getattr(getattr(item, "callspec", None), "params", {})
    return params.get("world") == "single" and "published" in getattr(params.get("driver"), "name", "")


@pytest.fixture(scope="module")
def multi_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    with node_world(services, s3_client) as world:
        yield world


@pytest.fixture(scope="module")
def single_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    with node_world(services, s3_client, tenancy="single") as world:
        yield world


@pytest.fixture(scope="module")
def private_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeWorld]:
    """With services of its own, and the bucket that embedded mode has."""
    with embedded_world(tmp_path_factory.mktemp("services")) as world:
        yield world


@pytest.fixture(params=["multi", "single"])
def world(request: pytest.FixtureRequest) -> NodeWorld:
    found: NodeWorld = request.getfixturevalue(f"{request.param}_world")
    return found


@pytest.fixture
def person(world: NodeWorld) -> Person:
    return world.person()


@pytest.fixture(params=DRIVERS, ids=[driver.name for driver in DRIVERS])
def driver(request: pytest.FixtureRequest) -> Driver:
    found: Driver = request.param
    return found


@pytest.fixture(params=SPEAKERS, ids=[speaker.name for speaker in SPEAKERS])
def speaker(request: pytest.FixtureRequest) -> Speaker:
    found: Speaker = request.param
    return found


@pytest.fixture
def unique(request: pytest.FixtureRequest) -> str:
    """32 characters: dataset ids come from it, and the tests of a module share a node."""
    return hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:32]


@pytest.fixture
def at(unique: str) -> str:
    """The name under which the test's dataset stands on the node."""
    return f"foo-{unique[:16]}"


@pytest.fixture
def foo(unique: str) -> DatasetBuilder:
    return root_dataset(unique)


@pytest.fixture(autouse=True)
def _no_socket_left() -> Iterator[None]:
    """A test may leave sockets open on purpose; they end with it."""
    yield
    RawWebSocket.close_all()
