"""`POST ingest`: what comes back, and what is in the dataset then."""

from tests.ingesting import IngestNode, csv


def test_pushed_records_are_in_the_dataset(ingest_node: IngestNode) -> None:
    ingest_node.create("pushed")
    status, result = ingest_node.ingest("pushed", csv(1, 2, 3))
    assert status == 200, (result, ingest_node.worker.tell())
    assert (result["result"], result["numBlocks"], result["numRecords"]) == ("Updated", 2, 3)
    records = ingest_node.records("pushed")
    assert [(item["offset"], item["op"], item["id"]) for item in records] == [(0, 0, 1), (1, 0, 2), (2, 0, 3)]
    assert result["newHead"] == ingest_node.node.get("/alice/pushed/refs/head").data.decode()
