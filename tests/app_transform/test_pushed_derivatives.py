"""Derivative datasets that others computed: replayed by the node that they are pushed to."""

from pathlib import Path
from typing import Any

import pytest

from odf_core.metadata import ExecuteTransform
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.workspace import Workspace
from tests.app_transform.deriving import derive, finished, get, wait
from tests.ingesting import IngestNode, csv
from tests.node_worker import running_worker, worker_settings
from tests.replay.tampering import Copy
from tests.running_node import running_node
from tests.services import S3Bucket

MODES = {"alice/strict": "before", "alice/lenient": "after"}


@pytest.mark.timeout(300)
def test_lies_are_refused_or_found(
    ingest_node: IngestNode, home: Any, database_url: str, s3_bucket: S3Bucket, tmp_path: Path
) -> None:
    publisher = ingest_node
    publisher.create("ground")
    for name in ("strict", "lenient"):
        made = derive(publisher, name, {"t": "ground"}, "SELECT at, id, city FROM t WHERE id % 2 = 0")
        assert finished(publisher, made["job"])["state"] == "done"
    for ids in (range(10), range(10, 20)):
        assert publisher.ingest("ground", csv(*ids))[0] == 200
        for name in ("strict", "lenient"):
            wait(
                publisher, lambda name=name, ids=ids: len(publisher.records(name)) == len(ids) * ids[-1] // 18
            )
    for name in ("ground", "strict", "lenient"):
        _run(home, "pull", f"odf+{publisher.node.base_url}/alice/{name}")
    settings = worker_settings(database_url, s3_bucket, tmp_path, admission={"replay_of": MODES})
    with running_node(settings) as started, running_worker(settings, tmp_path) as worker:
        reader = IngestNode(started, worker, started.token_of("alice"))

        def push(name: str) -> Any:
            address = f"odf+{started.base_url}/alice/{name}"
            return home("push", name, address, "--token", reader.token, "--visibility", "public")

        assert push("ground").code == 0
        honest = Workspace.find(Path.cwd()).dataset("strict").head
        _lie("strict")
        refused = push("strict")
        assert refused.code != 0
        assert "push_not_reproducible" in refused.err
        assert get(reader, "/alice/strict/refs/head")[0] == 404
        _restore("strict", honest)
        ran = push("strict")
        assert ran.code == 0, ran.err
        liar = _lie("lenient")
        ran = push("lenient")
        assert ran.code == 0, ran.err
        found = wait(reader, lambda: _verdict(reader, "lenient"))
        assert found["verdict"] == "Bad"
        assert [item["block"] for item in found["finding"]["findings"]] == [liar]
        assert found["finding"]["replay"]["steps"] == 2


def _run(home: Any, *command: str) -> None:
    ran = home(*command)
    assert ran.code == 0, ran.err


def _verdict(node: IngestNode, name: str) -> Any:
    status = get(node, f"/alice/{name}/verification")[1]
    return None if status["verdict"] == "Unknown" else status


def _lie(name: str) -> str:
    """Another value in the first step, all hashes right; the block that lies."""
    folder = Workspace.find(Path.cwd()).dataset(name).path
    copy = Copy(folder, [block.block for block in DatasetFolder(folder).walk()][::-1])
    place = next(n for n, block in enumerate(copy.blocks) if isinstance(block.event, ExecuteTransform))
    table = copy.table(place)
    values = ["somewhere else", *table["city"].to_pylist()[1:]]
    column = table.schema.get_field_index("city")
    changed = table.set_column(column, table.schema.field(column), [values])
    copy.change(place, new_data=copy.put(changed))
    copy.rebuild()
    return str(copy.hashes[place])


def _restore(name: str, head: Any) -> None:
    folder = Workspace.find(Path.cwd()).dataset(name).path
    (folder / "refs" / "head").write_text(str(head))
