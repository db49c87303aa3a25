"""What the job of a node says of each lie about a dataset that somebody has pushed to it.

Every dataset is consistent by itself: hashes and links are right, the lie is in what they say. The node takes
what it is given (`admission.replay = none`, no rows hashed); what it refuses all the same the cases tell.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from app.context import NodeContext
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.storage import dataset_prefix, object_key
from odf_core.transfer import Visibility
from odf_core.workspace import Transfers, Workspace
from tests.app_transform.deriving import get
from tests.ingesting import IngestNode
from tests.node_worker import running_worker, worker_settings
from tests.replay.cases import CASES, FULL, Case, each
from tests.replay.tampering import Copy, World
from tests.running_node import running_node
from tests.services import Addresses, fresh_bucket, fresh_database

_FEW = {
    "stateless-null_moved-0",
    "windowed-forged_watermark-0",
    "stateless-extra_column-0",
    "stateless-false_name-0",
}
JUDGED = [case for case in CASES if FULL or str(case) in _FEW]


@dataclass
class Publisher:
    """A workspace whose datasets lie, and the node that it pushes them to."""

    node: IngestNode
    workspace: Workspace

    def push(self, name: str) -> None:
        address = f"odf+{self.node.node.base_url}/alice/{name}"
        Transfers(self.workspace, token=self.node.token).push(name, address, visibility=Visibility.PUBLIC)

    def publish(self, case: Case, copy: Copy) -> str:
        """The copy as a dataset of its own; its name."""
        name = str(case).replace("_", "-")
        self.workspace.create_from_blocks(name, copy.rebuild(), copy.path)
        self.push(name)
        return name

    def damage(self, dataset_id: DatasetId, copy: Copy, place: int) -> None:
        """The bucket gets the bytes that the copy has now."""
        data = copy.event(place).new_data
        ref = ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)
        key, content = dataset_prefix(dataset_id) + object_key(ref), copy.slice_path(data).read_bytes()

        async def overwrite(context: NodeContext) -> None:
            context.store.delete([key])
            context.store.write(key, content, size=len(content))

        self.node.node.run(overwrite)


@pytest.fixture(scope="module")
def publisher(
    services: Addresses, s3_client: Any, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Publisher]:
    folder = tmp_path_factory.mktemp("published")
    bucket = fresh_bucket(services.s3, s3_client)
    root = world.datasets["root"]
    with fresh_database(services) as url:
        admission = {"replay": "none", "logical_hash": "off"}
        settings = worker_settings(url, bucket, folder, admission=admission)
        with running_node(settings) as node, running_worker(settings, folder) as worker:
            workspace = Workspace.init(folder)
            workspace.create_from_blocks("root", list(root.folder.walk())[::-1], root.path)
            publisher = Publisher(IngestNode(node, worker, node.token_of("alice")), workspace)
            publisher.push("root")
            yield publisher


@each(JUDGED)
def test_the_job_names_the_block(world: World, publisher: Publisher, case: Case) -> None:
    copy = world.copy(case.chain)
    seed = replace(copy.event(0), dataset_id=DatasetId.generate()[0])
    copy.blocks[0] = replace(copy.blocks[0], event=seed)
    if case.kind.is_damage:
        name = publisher.publish(case, copy)
        place = case.tell_in(copy, world)
        publisher.damage(seed.dataset_id, copy, place)
    else:
        place = case.tell_in(copy, world)
        if case.kind.refused is not None:
            with pytest.raises(OdfError) as refused:
                publisher.publish(case, copy)
            assert refused.value.code == case.kind.refused
            return
        name = publisher.publish(case, copy)
    status, found = publisher.node.post(f"/alice/{name}/verification")
    assert (status, found["ok"]) == (200, False), found
    assert found["findings"][0]["block"] == str(copy.hashes[place])
    assert case.kind.is_damage or not found["replay"]["ok"]
    if case.kind.is_local and not case.kind.met:
        assert found["numFindings"] == 1
    verdict = get(publisher.node, f"/alice/{name}/verification")[1]
    assert (verdict["verdict"], verdict["isCurrent"]) == ("Bad", True)
