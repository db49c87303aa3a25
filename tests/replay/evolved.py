"""A derivative dataset whose query has changed between its steps."""

from odf_core.metadata import MetadataBlock, SetTransform, SqlQueryStep, Timestamp, TransformSql
from odf_core.workspace import LocalDataset
from odf_core.workspace.state import current_state
from odf_core.workspace.transforms import Transforms
from tests.replay.derived_chain import STATELESS, Root, clock, derivative
from tests.replay.tampering import World

SECOND = "select event_time, upper(k) as k, v, n + 1 as n from root"


def grow_evolved(world: World) -> LocalDataset:
    """`evolved` over a root of its own, `elsewhere`: two steps, another query, a step."""
    root = Root(world.workspace, "elsewhere")
    now = clock()
    transforms = Transforms(world.workspace, lambda transform: world.engine, now)
    dataset = derivative(world.workspace, "evolved", _query(world, STATELESS), root.dataset, alias="root")
    for _ in range(2):
        root.grow()
        transforms.update(dataset.id)
    _change(world, dataset, SECOND, now())
    root.grow()
    transforms.update(dataset.id)
    world.datasets["evolved"] = dataset
    return dataset


def _query(world: World, text: str) -> TransformSql:
    return TransformSql(engine="spark", version=world.engine.version(), queries=(SqlQueryStep(query=text),))


def _change(world: World, dataset: LocalDataset, text: str, system_time: Timestamp) -> None:
    state = current_state(dataset.folder)
    assert state.transform is not None
    assert state.sequence_number is not None
    block = MetadataBlock(
        system_time=system_time,
        prev_block_hash=state.head,
        sequence_number=state.sequence_number + 1,
        event=SetTransform(inputs=state.transform.inputs, transform=_query(world, text)),
    )
    world.workspace.append_blocks(dataset, [block])
