"""Inputs of new transforms that are not on this node: whether a registered repository has them."""

from collections.abc import Iterable, Mapping

import anyio.to_thread

from app.accounts.model import Caller
from app.context import NodeContext
from app.database import connect
from app.ingest.inputs import Reference, find_inputs
from app.mirrors.errors import MirrorSourceNotFound
from app.mirrors.pulling import transfer_options
from app.mirrors.repositories import Repositories, read_repositories
from app.mirrors.sources import locate
from odf_core.identity import AccountName, DatasetId, DatasetIdRemote
from odf_core.metadata import MetadataEvent
from odf_core.transfer.client import Http


async def find_inputs_anywhere(
    node: NodeContext, caller: Caller, account: AccountName, events: Iterable[MetadataEvent]
) -> Mapping[Reference, DatasetId | None]:
    """As `find_inputs`; an id that this node does not have is looked for in the registered repositories.

    Raises `RemoteUnavailable` where it may be in one that does not answer, `DatabaseUnavailable`.
    """
    async with connect(node.engine) as conn:
        found = dict(await find_inputs(conn, caller, account, events))
        missing = [ref for ref, known in found.items() if known is None and isinstance(ref, DatasetId)]
        repositories = await read_repositories(conn) if missing else {}
    if not repositories or caller.account is None:
        return found
    asker = caller.account

    def look(repositories: Repositories) -> list[DatasetId]:
        options = transfer_options(node.settings.bounds).model_copy(update={"attempts": 1})
        there = []
        with Http(options) as http:
            for dataset_id in missing:
                try:
                    locate(http, repositories, asker, DatasetIdRemote(None, dataset_id))
                except MirrorSourceNotFound:
                    continue
                there.append(dataset_id)
        return there

    there = await anyio.to_thread.run_sync(look, repositories, abandon_on_cancel=True)
    return {**found, **{item: item for item in there}}
