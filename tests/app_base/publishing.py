"""Datasets for a running node, put into its bucket as files and indexed from there."""

from app.datasets.mirror import MirroredInfo, write_info
from app.ops.findings import ReindexReport
from app.ops.reindex import reindex
from odf_core.identity import DatasetAlias
from tests.builders.chain_builder import ChainBuilder, chain
from tests.running_node import RunningNode


def city(name: str = "test") -> ChainBuilder:
    """Seed, schema and two slices, the second with a checkpoint."""
    return chain(name).seed().schema().add_data(10, checkpoint=b"checkpoint of " + name.encode()).add_data(5)


def put_files(node: RunningNode, built: ChainBuilder, alias: str, visibility: str) -> str:
    """The chain's files in the bucket; the name of their folder."""
    folder = built.dataset_id.multibase
    for name, content in built.files().items():
        node.context.store.write(f"{folder}/{name}", content, size=len(content))
    owner = node.run(lambda context: _did_of(context, alias.partition("/")[0]))
    write_info(node.context.store, folder, MirroredInfo(DatasetAlias.parse(alias), visibility, owner))
    return folder


def publish(
    node: RunningNode, built: ChainBuilder, alias: str = "alice/city", visibility: str = "public"
) -> ReindexReport:
    """The chain as a dataset of the node."""
    put_files(node, built, alias, visibility)
    return node.run(lambda context: reindex(context.store, context.engine))


async def _did_of(context, account: str) -> str:  # type: ignore[no-untyped-def]
    from app.accounts.service import ensure_account

    return (await ensure_account(context.engine, account)).did
