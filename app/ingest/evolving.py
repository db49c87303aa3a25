"""Metadata of the node's datasets, changed by events that a client sends (metadata.md 6)."""

from dataclasses import dataclass, replace

import anyio.to_thread

from app.accounts.model import Caller
from app.context import NodeContext
from app.database import connect
from app.datasets.errors import DatasetNotFound
from app.datasets.model import DatasetInfo
from app.datasets.service import find_dataset_by_pk
from app.ingest.engine import PLANNING_ONLY
from app.mirrors.elsewhere import find_inputs_anywhere
from app.transfer.chain_index import Head, read_key_blocks
from app.transfer.landing import land
from app.transform.pinning import pin_transforms, state_of
from odf_core.identity import AccountName, Multihash
from odf_core.ingest.evolution import Evolution, evolve
from odf_core.ingest.fetch import FetchPolicy
from odf_core.ingest.source_policy import require_allowed
from odf_core.metadata import PlacedEvent, Timestamp, read_block, read_events
from odf_core.transfer.errors import HeadMoved

_TRIES = 5
"""How often the events are tried on a newer head, because an ingest or a push came between."""


@dataclass(frozen=True, slots=True)
class Evolved:
    """The heads before and after, and what became of each event."""

    old_head: Multihash
    new_head: Multihash
    evolution: Evolution


async def commit_events(
    node: NodeContext,
    caller: Caller,
    dataset: DatasetInfo,
    text: bytes,
    system_time: Timestamp,
    *,
    expected_head: Multihash | None = None,
    dry_run: bool = False,
) -> Evolved:
    """Make the events in `text`, YAML or JSON, the newest blocks of the dataset, all of them or none.

    With `expected_head`, only if that is the head; `dry_run` checks and writes nothing. Raises what
    `read_events`, `pin_transforms` and `evolve` raise, `FetchNotAllowed` for what this node does not do
    for strangers, `TransformCycle`, `HeadMoved`, `DatasetNotFound`, `StoreUnavailable`,
    `DatabaseUnavailable`, `CommitOutcomeUnknown`.
    """
    bounds = node.settings.bounds
    events = await anyio.to_thread.run_sync(read_events, text, "the body", bounds)
    policy = FetchPolicy.node(node.settings.ingest.allow)
    for item in events:
        require_allowed(item.event, policy)
    owner = AccountName(dataset.owner_name)
    async with connect(node.engine) as conn:
        state = await state_of(conn, dataset, bounds)
    told = [(item.event, item.telling) for item in events]
    pinned = await pin_transforms(node, caller, owner, told, state.vocabulary)
    events = [replace(item, event=event) for item, event in zip(events, pinned, strict=True)]
    for tries_left in reversed(range(_TRIES)):
        try:
            return await _commit(node, caller, dataset.pk, events, system_time, expected_head, dry_run)
        except HeadMoved:
            if expected_head is not None or not tries_left:
                raise
    raise AssertionError("unreachable")


async def _commit(
    node: NodeContext,
    caller: Caller,
    dataset_pk: int,
    events: list[PlacedEvent],
    system_time: Timestamp,
    expected_head: Multihash | None,
    dry_run: bool,
) -> Evolved:
    async with connect(node.engine) as conn:
        dataset = await find_dataset_by_pk(conn, dataset_pk)
        if dataset is None:
            raise DatasetNotFound("The dataset was deleted.")
        stored = await read_key_blocks(conn, dataset_pk, Head(dataset.head, dataset.head_sequence_number))
        owner = AccountName(dataset.owner_name)
    if expected_head not in (None, dataset.head):
        raise HeadMoved(expected=expected_head, actual=dataset.head)
    inputs = await find_inputs_anywhere(node, caller, owner, [item.event for item in events])

    def evolved() -> Evolution:
        known = [read_block(data, None, node.settings.bounds) for data in stored]
        moment = max(system_time, known[-1].block.system_time)
        return evolve(known, events, moment, inputs.get, PLANNING_ONLY)

    made = await anyio.to_thread.run_sync(evolved)
    if dry_run or not made.blocks:
        return Evolved(dataset.head, dataset.head, made)
    await land(
        node,
        dataset=dataset,
        create=None,
        dataset_id=dataset.id,
        blocks=made.blocks,
        expected_head=dataset.head,
        replaces_chain=False,
    )
    return Evolved(dataset.head, made.blocks[-1].hash, made)
