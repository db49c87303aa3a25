"""Request ids, one log line per request, and no trace of a fault for clients."""

import io
import json
import logging
import time
from collections.abc import Callable, Iterator
from typing import Literal

import pytest
import structlog
from fastapi import APIRouter

from app.ops.logs import configure_logging
from app.ops.requests import request_id_for
from app.settings import LogSettings
from odf_core.errors import Unavailable
from tests.running_node import RunningNode
from tests.scripted.websocket import Closed, HandshakeRefused, RawWebSocket

router = APIRouter()


@router.get("/test/fault")
async def fault() -> None:
    raise RuntimeError("secret detail")


@router.get("/test/away")
async def away() -> None:
    raise Unavailable("The other side is away.")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = (root.handlers, root.level)
    stream = io.StringIO()
    configure_logging(LogSettings(level="info"), stream)
    yield stream
    root.handlers, root.level = before
    structlog.reset_defaults()


def lines(log: io.StringIO, event: str) -> list[dict[str, object]]:
    parsed = [json.loads(line) for line in log.getvalue().splitlines()]
    return [line for line in parsed if line["event"] == event]


@pytest.mark.parametrize("given", ["abc", "A-b_c.9", "x" * 64])
def test_a_short_plain_id_is_kept(given: str) -> None:
    assert request_id_for(given) == given


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 65, "a\nb", "ä", "<script>", "a\x00"])
def test_any_other_id_is_replaced(given: str | None) -> None:
    made = request_id_for(given)
    assert made != given
    assert len(made) == 32


def test_the_id_is_in_answer_and_log_and_the_query_is_not(node: RunningNode, log: io.StringIO) -> None:
    token = node.token_of("alice")
    answer = node.get("/info?access_token=hush", token=token, headers={"x-request-id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    (line,) = lines(log, "request")
    assert (line["request_id"], line["method"], line["path"], line["status"]) == (
        "mine-1",
        "GET",
        "/info",
        200,
    )
    assert "hush" not in log.getvalue()
    assert token not in log.getvalue()


@pytest.mark.parametrize("level", ["info", "debug"])
def test_a_websocket_has_one_line_without_its_query(
    node: RunningNode, log: io.StringIO, level: Literal["info", "debug"]
) -> None:
    """uvicorn's own lines name the query, and at DEBUG those of websockets have headers and messages."""
    configure_logging(LogSettings(level=level), log)
    token = node.token_of("alice")
    headers = {"x-odf-smtp-version": "1", "authorization": f"Bearer {token}", "x-request-id": "mine-2"}
    ws = RawWebSocket.connect(f"{node.base_url}/alice/new/push?access_token=hush", headers)
    ws.send_text('{"X-Amz-Signature=hush-hush": 1')
    with pytest.raises(Closed):
        ws.receive()
    with pytest.raises(HandshakeRefused):
        RawWebSocket.connect(f"{node.base_url}/alice/new/pull?access_token=hush", headers)
    assert wait_for(lambda: len(lines(log, "request")) == 2)
    told = {(line["path"], line["method"], line["status"]) for line in lines(log, "request")}
    assert told == {("/alice/new/push", "WEBSOCKET", 101), ("/alice/new/pull", "WEBSOCKET", 404)}
    assert {line["request_id"] for line in lines(log, "request")} == {"mine-2"}
    for secret in ("hush", token, "[accepted]", "connection open", "connection closed"):
        assert secret not in log.getvalue()
    assert '"level":"error"' not in log.getvalue()  # also the denial is none


def test_errors_of_the_websocket_layer_are_kept(log: io.StringIO) -> None:
    logging.getLogger("app.transfer.websocket").error("Exception in ASGI application")
    assert [line["level"] for line in lines(log, "Exception in ASGI application")] == ["error"]


def wait_for(holds: Callable[[], bool]) -> bool:
    """A WebSocket's line is written when its handler ends, which may be after the peer has."""
    deadline = time.monotonic() + 20
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


def test_health_is_not_worth_a_line(node: RunningNode, log: io.StringIO) -> None:
    assert node.get("/health/live").status == 200
    assert lines(log, "request") == []


def test_a_fault_is_logged_whole_and_told_without_detail(node: RunningNode, log: io.StringIO) -> None:
    node.app.router.routes.insert(0, router.routes[0])
    answer = node.get("/test/fault", headers={"x-request-id": "broken"})
    assert answer.status == 500
    assert b"secret detail" not in answer.data
    assert answer.json()["code"] == "internal_error"
    assert answer.json()["requestId"] == "broken"
    (line,) = lines(log, "request failed")
    assert "secret detail" in str(line["exception"])
    assert line["request_id"] == "broken"
    assert lines(log, "request")[0]["code"] == "internal_error"


def test_unavailable_says_when_to_come_back(node: RunningNode, log: io.StringIO) -> None:
    node.app.router.routes.insert(0, router.routes[1])
    answer = node.get("/test/away")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["family"] == "unavailable"


def test_an_unknown_address_of_a_websocket_is_404(node: RunningNode) -> None:
    for path in ("/", "/nowhere", "/a/b/c/d", "/alice/city/pul"):
        with pytest.raises(HandshakeRefused) as refused:
            RawWebSocket.connect(node.base_url + path, {"x-odf-smtp-version": "1"})
        assert (refused.value.status, refused.value.body) == (404, b"Not Found"), path
