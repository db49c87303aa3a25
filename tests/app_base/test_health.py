"""Health: alive always, ready only with Postgres and S3, with reasons otherwise."""

import socket

from app.settings import Settings
from tests.running_node import RunningNode, running_node


def without_s3(settings: Settings) -> Settings:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return settings.model_copy(
        update={"s3": settings.s3.model_copy(update={"endpoint": f"http://127.0.0.1:{port}"})}
    )


def without_database(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "database": type(settings.database).model_validate({"url": "postgresql://odf@127.0.0.1:1/odf"})
        }
    )


def test_a_node_with_both_is_ready(node: RunningNode) -> None:
    assert node.get("/health/live").json() == {"status": "ok"}
    answer = node.get("/health/ready")
    assert (answer.status, answer.json()) == (200, {"status": "ready", "reasons": []})
    assert node.head("/health/ready").status == 200


def test_without_s3_it_says_so_and_blocks_are_served(node_settings: Settings) -> None:
    with running_node(without_s3(node_settings)) as node:
        assert node.get("/health/live").status == 200
        answer = node.get("/health/ready")
        assert answer.status == 503
        assert [reason["part"] for reason in answer.json()["reasons"]] == ["storage"]
        assert node.get("/alice/nothing/refs/head").status == 404


def test_without_postgres_it_says_so_and_requests_end_in_503(node_settings: Settings) -> None:
    with running_node(without_database(node_settings)) as node:
        answer = node.get("/health/ready")
        assert answer.status == 503
        (reason,) = answer.json()["reasons"]
        assert (reason["part"], reason["code"]) == ("database", "database_unavailable")
        refused = node.get("/alice/nothing/refs/head")
        assert (refused.status, refused.json()["code"]) == (503, "database_unavailable")
        assert refused.headers["retry-after"]


def test_a_node_that_is_about_to_stop_is_not_ready(node: RunningNode) -> None:
    node.app.state.transfer.draining = True
    answer = node.get("/health/ready")
    assert answer.status == 503
    assert answer.json()["reasons"][0]["code"] == "draining"
