"""Deleting a dataset: gone for readers, from the bucket, and for every later reindex."""

import pytest

from app.datasets.admin import delete_dataset, list_all_datasets
from app.datasets.errors import DatasetNotFound
from app.ops.admin import reindex_node
from odf_core.identity import DatasetAlias
from odf_core.storage import StoreUnavailable
from tests.app_base.publishing import city, publish
from tests.running_node import RunningNode

ALIAS = DatasetAlias.parse("alice/city")


def test_a_deleted_dataset_stays_deleted(node: RunningNode) -> None:
    gone, kept = city("gone"), city("kept")
    publish(node, gone, "alice/city")
    publish(node, kept, "alice/kept")
    node.run(lambda context: delete_dataset(context, ALIAS))
    assert node.get("/alice/city/refs/head").status == 404
    assert [item.key for item in node.context.store.list(gone.dataset_id.multibase)] == []
    report = node.run(reindex_node)
    assert (report.datasets, report.findings) == (1, [])
    assert [item.name for item in node.run(list_all_datasets)] == ["kept"]
    with pytest.raises(DatasetNotFound):
        node.run(lambda context: delete_dataset(context, ALIAS))


def test_a_delete_that_s3_interrupts_leaves_a_whole_dataset(
    node: RunningNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = city()
    publish(node, built)

    def away(keys: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr(type(node.context.store), "delete", lambda self, keys: away(keys))
    with pytest.raises(StoreUnavailable):
        node.run(lambda context: delete_dataset(context, ALIAS))
    monkeypatch.undo()
    for name, content in built.files().items():
        assert node.get(f"/alice/city/{name}").data == content
    node.run(lambda context: delete_dataset(context, ALIAS))
    assert node.get("/alice/city/refs/head").status == 404
