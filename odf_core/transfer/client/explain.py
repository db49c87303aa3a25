"""Why two sides do not follow each other: the node's chain is read to find the last common block."""

from odf_core.chain import Divergence
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import Seed, read_block
from odf_core.transfer import BlocksBatch, ClientPullSession, PullRequest, TransferPlan, read_batch
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.conversation import open_conversation
from odf_core.transfer.client.divergence import Verb, refuse_divergence
from odf_core.transfer.client.errors import IdentityChanged
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.landing import require_same_identity
from odf_core.transfer.errors import UnexpectedMessage


def explain_divergence(
    verb: Verb,
    http: Http,
    address: DatasetAddress,
    token: str | None,
    local: DatasetFolder,
    local_head: Multihash,
    remote_head: Multihash,
    dataset_id: DatasetId | None,
) -> None:
    """Raise `DestinationAhead`, `DatasetsDiverged` or `IdentityChanged`, whichever holds.

    Where the node's chain cannot be read, `DatasetsDiverged` without a common block.
    """
    try:
        found = _compare(http, address, token, local, local_head, remote_head, dataset_id)
    except IdentityChanged:
        raise
    except OdfError:  # the explanation may fail; that the sides do not follow each other stays true
        found = None
    refuse_divergence(verb, local_head, remote_head, found)


def _compare(
    http: Http,
    address: DatasetAddress,
    token: str | None,
    local: DatasetFolder,
    local_head: Multihash,
    remote_head: Multihash,
    dataset_id: DatasetId | None,
) -> Divergence:
    """Blocks of the local chain (a) and of the node's (b) after their last common one."""
    own: dict[Multihash, int] = {}
    for steps, block in enumerate(local.walk(local_head)):
        own[block.hash] = steps
    if remote_head in own:
        return Divergence(remote_head, own[remote_head], 0)
    remote: dict[Multihash, int] = {}
    seed = _read_chain(http, address, token, remote_head, dataset_id, remote)
    require_same_identity(local, local_head, seed)
    common = next((item for item in own if item in remote), None)
    if common is None:
        return Divergence(None, len(own), len(remote))
    return Divergence(common, own[common], len(remote) - 1 - remote[common])


def _read_chain(
    http: Http,
    address: DatasetAddress,
    token: str | None,
    head: Multihash,
    dataset_id: DatasetId | None,
    found: dict[Multihash, int],
) -> Seed:
    """The hashes of the node's whole chain with their places, into `found`; its Seed."""
    limits = http.options.limits
    seed: Seed | None = None
    last: Multihash | None = None
    while last != head:
        with open_conversation(http, address.join("pull"), token, ClientPullSession) as talk:
            plan = talk.ask(talk.session.send_request(PullRequest(dataset_id, last)))
            if not isinstance(plan, TransferPlan) or plan.num_blocks == 0:
                break
            batch = talk.ask(talk.session.send_metadata_request())
            if not isinstance(batch, BlocksBatch):
                break
            for block_hash, data in read_batch(batch, limits):
                if not found:
                    event = read_block(data, block_hash, limits).block.event
                    seed = event if isinstance(event, Seed) else None
                found.setdefault(block_hash, len(found))
                last = block_hash
            talk.finish()
        if len(found) > limits.archive_entries:
            break
    if seed is None:
        raise UnexpectedMessage("The node's chain does not begin with a Seed.")
    return seed
