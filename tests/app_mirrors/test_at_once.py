"""Two workers that mirror one dataset at once: it is there once, and as its source has it."""

import asyncio
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.service import ensure_account
from app.context import NodeContext
from app.database import connect
from app.mirrors.bringing import Ask, Bringing
from app.mirrors.pulling import transfer_options
from app.mirrors.repositories import read_repositories
from app.mirrors.sources import parse_wanted
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


async def _in_vain(*_: AsyncConnection | dict[str, Any]) -> None:
    """No job is told."""
