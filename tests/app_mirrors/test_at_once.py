"""Mirrors that meet: two workers with one dataset, and a source that comes back."""

import asyncio
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.service import ensure_account
from app.context import NodeContext
from app.database import connect
from app.mirrors.bringing import Ask, Bringing
from app.mirrors.pulling import transfer_options
from app.mirrors.repositories import read_repositories
from app.mirrors.sources import parse_wanted
from odf_core.transfer.client import Http
from tests.app_mirrors.mirroring import add_repo, head_of, mirror, push
from tests.app_transform.deriving import wait
from tests.builders.dataset_builder import root_dataset
from tests.ingesting import IngestNode
from tests.running_node import RunningNode, running_node

FULL = bool(os.environ.get("ODF_TEST_FULL"))


def test_two_workers_with_one_dataset(
    shared_node: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    """Here the second node is the source, since the first has no worker that would come between."""
    built, source, target = root_dataset("met"), second_node.node, shared_node
    add_repo(target, "second", f"odf+{source.base_url}")
    for new in (len(built.blocks), 2):
        push(source, built, tmp_path, "met")
        brought = target.run(lambda node: _bring_twice(node, "second/alice/met", tmp_path))
        assert sorted(item["numBlocks"] for (item,) in brought) == [0, new]
        assert head_of(target, "alice/met") == built.head
        built.add(5).info("more")


async def _bring_twice(node: NodeContext, source: str, folder: Path) -> list[list[dict[str, Any]]]:
    """What each of two has brought that pull the same and commit at once."""
    barrier = asyncio.Barrier(2)

    class Together(Bringing):
        async def _land(self, *arguments: Any) -> None:
            await barrier.wait()
            await Bringing._land(self, *arguments)

    account = await ensure_account(node.engine, "alice")
    async with connect(node.engine) as conn:
        repositories = await read_repositories(conn)

    async def bring(number: int) -> list[dict[str, Any]]:
        with Http(transfer_options(node.settings.bounds)) as http:
            work = Together(node, http, repositories, account, folder / str(number), _in_vain, _in_vain)
            await work.bring(Ask(parse_wanted(source, repositories)))
            return work.brought

    return list(await asyncio.gather(bring(1), bring(2)))


async def _in_vain(*_: AsyncConnection | dict[str, Any]) -> None:
    """No job is told."""


@pytest.mark.skipif(not FULL, reason="waits for a job's next attempt; set ODF_TEST_FULL")
def test_a_source_that_does_not_answer_yet(
    shared_node: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    built = root_dataset("late")
    push(shared_node, built, tmp_path, "late")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    add_repo(second_node.node, "later", f"odf+http://127.0.0.1:{port}")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(mirror, second_node, "later/alice/late")
        wait(second_node, lambda: "job_put_off" in second_node.worker.tell())
        http = shared_node.settings.http.model_copy(update={"port": port})
        with running_node(shared_node.settings.model_copy(update={"http": http})):
            status, found = asked.result(120)
    assert (status, found["result"]) == (200, "Updated"), found
    assert head_of(second_node.node, "alice/late") == built.head
