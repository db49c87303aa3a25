"""`odf admin repo` and `odf admin mirror`, beside a node that runs."""

from pathlib import Path

import pytest
from sqlalchemy import select

from app.context import NodeContext
from app.database import connect, create_engine
from app.mirrors.service import list_mirrors
from app.mirrors.tables import Repository
from app.ops.reindex import reindex
from app.settings import DatabaseSettings
from app.workers import worker_environment
from tests.app_mirrors.mirroring import head_of, push
from tests.builders.dataset_builder import root_dataset
from tests.cli.conftest import Odf, odf
from tests.ingesting import IngestNode
from tests.running_node import RunningNode
from tests.services import Addresses, fresh_database

__all__ = ["odf"]


@pytest.fixture
def operator(odf: Odf, second_node: IngestNode, monkeypatch: pytest.MonkeyPatch) -> Odf:
    """Commands with the settings of the second node."""
    for name, value in worker_environment(second_node.node.settings).items():
        if name.startswith("ODF_"):
            monkeypatch.setenv(name, value)
    return odf


def test_repositories_and_mirrors(
    operator: Odf, shared_node: RunningNode, second_node: IngestNode, services: Addresses, tmp_path: Path
) -> None:
    url, token = f"odf+{shared_node.base_url}/", shared_node.token_of("alice")
    made = operator("admin", "repo", "add", "first", url, "--token", token, "--for", "alice", "-o", "json")
    assert made.code == 0, made.err
    again = operator("admin", "repo", "add", "FIRST", url, "--token", token, "--for", "alice")
    assert again.code == 0, again.err
    assert operator("admin", "repo", "add", "first", "https://elsewhere.example").code == 6
    assert operator("admin", "repo", "add", "second", url, "--for", "nobody").code == 4
    listed = operator("admin", "repo", "list", "-o", "json")
    assert listed.json == [{"name": "first", "url": url, "hasToken": True, "accounts": ["alice"]}]
    assert token not in made.text + made.err + listed.text
    assert second_node.node.run(_tokens) == [token]

    built = root_dataset("by hand")
    push(shared_node, built, tmp_path, "by-hand")
    added = operator("admin", "mirror", "add", "first/alice/by-hand", "--account", "alice", "-o", "json")
    assert added.code == 0, added.err
    assert added.json["datasets"][0]["newHead"] == built.head
    missing = operator("admin", "mirror", "add", "first/alice/nothing", "--account", "alice")
    assert (missing.code, missing.error["code"]) == (4, "mirror_source_not_found")
    (row,) = operator("admin", "mirror", "list", "-o", "json").json
    assert (row["name"], row["source"], row["blocks"]) == ("alice/by-hand", "first/alice/by-hand", 4)

    with fresh_database(services) as url:  # the index is lost, and made again from the bucket
        assert second_node.node.run(lambda node: _reindexed(node, url)) == ["first/alice/by-hand"]
    built.info("later")
    assert operator("admin", "mirror", "stop", "alice/by-hand").code == 0
    assert operator("admin", "mirror", "stop", "alice/by-hand").code == 4
    assert operator("admin", "mirror", "list", "-o", "json").json == []
    push(second_node.node, built, tmp_path, "by-hand", token=second_node.token)
    assert head_of(second_node.node, "alice/by-hand") == built.head

    assert operator("admin", "repo", "remove", "first").code == 0
    assert operator("admin", "repo", "remove", "first").code == 4
    assert operator("admin", "repo", "list", "-o", "json").json == []
    log = second_node.worker.tell()
    assert token not in log


async def _reindexed(node: NodeContext, url: str) -> list[str | None]:
    """What another database says of mirrors that was made from the node's bucket."""
    engine = create_engine(DatabaseSettings.model_validate({"url": url}))
    try:
        await reindex(node.store, engine)
        async with connect(engine) as conn:
            return [item.dataset.mirror_of for item in await list_mirrors(conn, None)]
    finally:
        await engine.dispose()


async def _tokens(node: NodeContext) -> list[str | None]:
    async with connect(node.engine) as conn:
        return list((await conn.execute(select(Repository.token))).scalars())
