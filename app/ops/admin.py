"""What `odf admin` can do, in one place; each is an ordinary function over a `NodeContext` or its engine.

async with open_node(settings) as node:
    await create_account(node.engine, "alice")
"""

from collections.abc import Callable

from app.accounts.service import create_account, create_token, list_accounts, list_tokens, revoke_token
from app.context import NodeContext
from app.datasets.admin import delete_dataset, list_all_datasets, set_visibility
from app.ops.findings import ReindexReport
from app.ops.reindex import ReindexProgress, reindex
from app.wiring import open_node

__all__ = [
    "open_node",
    "create_account",
    "list_accounts",
    "create_token",
    "list_tokens",
    "revoke_token",
    "list_all_datasets",
    "set_visibility",
    "delete_dataset",
    "reindex_node",
]


async def reindex_node(
    node: NodeContext, *, rehash: bool = False, progress: Callable[[ReindexProgress], None] | None = None
) -> ReindexReport:
    """Rebuild the index of this node from its bucket; see `app.ops.reindex`."""
    return await reindex(
        node.store,
        node.engine,
        default_account=node.settings.accounts.default_account,
        rehash=rehash,
        limits=node.settings.bounds,
        progress=progress,
    )
