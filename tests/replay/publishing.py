"""Somebody who pushes derivative datasets to a node, whatever they say."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.context import NodeContext
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.storage import dataset_prefix, object_key
from odf_core.transfer import Visibility
from odf_core.workspace import Transfers, Workspace
from tests.ingesting import IngestNode
from tests.node_worker import running_worker, worker_settings
from tests.replay.tampering import Copy, World
from tests.running_node import running_node
from tests.services import Addresses, fresh_bucket, fresh_database


@dataclass
class Publisher:
    """A workspace, and the node that it pushes to."""

    node: IngestNode
    workspace: Workspace

    def push(self, name: str) -> None:
        address = f"odf+{self.node.node.base_url}/alice/{name}"
        Transfers(self.workspace, token=self.node.token).push(name, address, visibility=Visibility.PUBLIC)

    def publish(self, name: str, copy: Copy) -> None:
        """Push what the copy says, made into a chain."""
        self.workspace.create_from_blocks(name, copy.rebuild(), copy.path)
        self.push(name)

    def damage(self, copy: Copy, place: int) -> None:
        """The bucket gets the bytes that the copy has now."""
        data = copy.event(place).new_data
        ref = ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)
        key = dataset_prefix(copy.event(0).dataset_id) + object_key(ref)
        content = copy.slice_path(data).read_bytes()

        async def overwrite(context: NodeContext) -> None:
            context.store.delete([key])
            context.store.write(key, content, size=len(content))

        self.node.node.run(overwrite)


def own_copy(world: World, name: str) -> Copy:
    """A copy that is a dataset of its own."""
    copy = world.copy(name)
    copy.change(0, dataset_id=DatasetId.generate()[0])
    return copy


@contextmanager
def publishing(
    services: Addresses, s3_client: Any, world: World, folder: Path, **admission: Any
) -> Iterator[Publisher]:
    """A node with one worker to which the root of all chains was pushed."""
    bucket = fresh_bucket(services.s3, s3_client)
    root = world.datasets["root"]
    with fresh_database(services) as url:
        settings = worker_settings(url, bucket, folder, admission=admission)
        with running_node(settings) as node, running_worker(settings, folder) as worker:
            workspace = Workspace.init(folder)
            workspace.create_from_blocks("root", list(root.folder.walk())[::-1], root.path)
            publisher = Publisher(IngestNode(node, worker, node.token_of("alice")), workspace)
            publisher.push("root")
            yield publisher
