"""Fixtures of the tests that drive a node over its sockets."""

from collections.abc import Iterator

import pytest

from tests.scripted.websocket import RawWebSocket


@pytest.fixture(autouse=True)
def _no_socket_outlives_its_test() -> Iterator[None]:
    yield
    RawWebSocket.close_all()
