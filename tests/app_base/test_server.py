"""How the node stops: sessions first, then the rest (stack.md 4.2)."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import urllib3

from app.main import create_app
from app.server import AddressUnusable, NodeServer, address_of, bind, server_config
from app.settings import HttpSettings, Settings
from app.transfer.runtime import NodeBusy, TransferRuntime

SECONDS = 30


class Started:
    """A NodeServer in a thread; `stop` is what a signal would do."""

    def __init__(self, settings: Settings, drain_seconds: float) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        app = create_app(settings)
        self.runtime: TransferRuntime = app.state.transfer
        listens = threading.Event()
        self.server = NodeServer(
            server_config(app, settings), self.runtime, drain_seconds=drain_seconds, on_started=listens.set
        )
        self.thread = threading.Thread(target=self.server.run, args=([self._listening],), daemon=True)
        self.url = address_of(self._listening)
        self.thread.start()
        assert listens.wait(SECONDS)

    def stop(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def ended(self) -> bool:
        self.thread.join(SECONDS)
        return not self.thread.is_alive()


@pytest.fixture
def start(node_settings: Settings) -> Iterator[Callable[[float], Started]]:
    running: list[Started] = []

    def make(drain_seconds: float) -> Started:
        running.append(Started(node_settings, drain_seconds))
        return running[-1]

    yield make
    for started in running:
        started.server.should_exit = True
        assert started.ended()


def test_a_session_may_end_and_no_new_one_starts(start: Callable[[float], Started]) -> None:
    node = start(3600)
    with node.runtime.session():
        node.stop()
        ready = urllib3.request("GET", f"{node.url}/health/ready")
        assert (ready.status, ready.json()["reasons"][0]["code"]) == (503, "draining")
        with pytest.raises(NodeBusy), node.runtime.session():
            pass
        assert node.thread.is_alive()
    assert node.ended()


def test_nothing_to_wait_for(start: Callable[[float], Started]) -> None:
    node = start(3600)
    node.stop()
    assert node.ended()


def test_patience_ends(start: Callable[[float], Started]) -> None:
    node = start(0)
    with node.runtime.session():
        node.stop()
        assert node.ended()


def test_told_twice_it_stops_at_once(start: Callable[[float], Started]) -> None:
    node = start(3600)
    with node.runtime.session():
        node.stop()
        node.stop()
        assert node.ended()


def test_a_taken_port_is_a_sentence() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(AddressUnusable, match="cannot listen on"),
    ):
        bind(HttpSettings(port=taken.getsockname()[1]))


def test_addresses_that_a_client_can_use() -> None:
    with socket.create_server(("0.0.0.0", 0)) as anywhere:
        port = anywhere.getsockname()[1]
        assert address_of(anywhere) == f"http://127.0.0.1:{port}"
