"""Two workers that mirror one dataset at once: it is there once, and as its source has it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.service import ensure_account
from app.context import NodeContext
from app.database import connect
from app.mirrors.bringing import Ask, Bringing
from app.mirrors.pulling import Pulled, transfer_options
from app.mirrors.repositories import read_repositories
from app.mirrors.sources import parse_wanted
from odf_core.storage import StoreUnavailable
from odf_core.transfer.client import Http
from tests.app_mirrors.mirroring import add_repo, head_of, push
from tests.builders.dataset_builder import root_dataset
from tests.fixtures_node import node, node_settings
from tests.running_node import RunningNode

__all__ = ["node", "node_settings"]


def test_two_workers_with_one_dataset(shared_node: RunningNode, node: RunningNode, tmp_path: Path) -> None:
    built, source, target = root_dataset("met"), shared_node, node
    add_repo(target, "first", f"odf+{source.base_url}")
    for new in (len(built.blocks), 2):
        push(source, built, tmp_path, "met")
        brought = target.run(lambda context: _bring_twice(context, "first/alice/met", tmp_path))
        assert sorted(item["numBlocks"] for (item,) in brought) == [0, new]
        assert head_of(target, "alice/met") == built.head
        built.add(5).info("more")


async def _bring_twice(context: NodeContext, source: str, folder: Path) -> list[list[dict[str, Any]]]:
    """What each of two has brought that pull the same and commit at once."""
    barrier = asyncio.Barrier(2)

    class Together(Bringing):
        async def _land(self, *arguments: Any) -> None:
            await barrier.wait()
            await Bringing._land(self, *arguments)

    account = await ensure_account(context.engine, "alice")
    async with connect(context.engine) as conn:
        repositories = await read_repositories(conn)

    async def bring(number: int) -> list[dict[str, Any]]:
        with Http(transfer_options(context.settings.bounds)) as http:
            work = Together(context, http, repositories, account, folder / str(number), _in_vain, _in_vain)
            await work.bring(Ask(parse_wanted(source, repositories)))
            return work.brought

    return list(await asyncio.gather(bring(1), bring(2)))


def test_a_pull_goes_on_after_a_failure(shared_node: RunningNode, node: RunningNode, tmp_path: Path) -> None:
    built = root_dataset("broken off").add(5)
    push(shared_node, built, tmp_path, "broken-off")
    add_repo(node, "first", f"odf+{shared_node.base_url}")
    moved = node.run(lambda context: _bring_in_two(context, "first/alice/broken-off", tmp_path / "pulls"))
    assert (moved[0] > 0, moved[1]) == (True, 0)  # the second attempt has all files already
    assert head_of(node, "alice/broken-off") == built.head
    assert list((tmp_path / "pulls").iterdir()) == []


async def _bring_in_two(context: NodeContext, source: str, pulls: Path) -> list[int]:
    """Bytes of files that each of two attempts fetched; the bucket fails the first one."""
    moved: list[int] = []

    class Counting(Bringing):
        async def _land(self, pulled: Pulled, *arguments: Any) -> None:
            moved.append(pulled.num_bytes)
            if len(moved) == 1:
                raise StoreUnavailable("The bucket does not answer.")
            await Bringing._land(self, pulled, *arguments)

    account = await ensure_account(context.engine, "alice")
    async with connect(context.engine) as conn:
        repositories = await read_repositories(conn)
    with Http(transfer_options(context.settings.bounds)) as http:
        work = Counting(context, http, repositories, account, pulls, _in_vain, _in_vain)
        ask = Ask(parse_wanted(source, repositories))
        with pytest.raises(StoreUnavailable):
            await work.bring(ask)
        await work.bring(ask)
    return moved


async def _in_vain(*_: AsyncConnection | dict[str, Any]) -> None:
    """No job is told."""
