"""Making datasets on a node and putting data into them, as a client does it over HTTP."""

import json
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pyarrow.parquet as pq

from app.context import NodeContext
from app.database import connect
from app.datasets.model import DatasetAddress
from app.datasets.service import find_dataset
from app.ingest.chain import ChainNow, read_chain
from odf_core.identity import AccountName, DatasetName
from odf_core.storage import dataset_prefix, object_key
from tests.node_worker import WorkerProcess
from tests.running_node import RunningNode

SCHEMA = ["at TIMESTAMP", "id BIGINT", "city STRING"]


def manifest(name: str, *events: dict[str, Any]) -> bytes:
    """A root dataset's snapshot as JSON (YAML reads it too)."""
    vocabulary = {"kind": "SetVocab", "eventTimeColumn": "at"}
    content = {"name": name, "kind": "Root", "metadata": [*events, vocabulary]}
    return json.dumps({"kind": "DatasetSnapshot", "version": 1, "content": content}).encode()


def push_source(merge: dict[str, Any] | None = None, name: str = "default") -> dict[str, Any]:
    """A push source of CSV with a header."""
    return {
        "kind": "AddPushSource",
        "sourceName": name,
        "read": {"kind": "Csv", "header": True, "schema": SCHEMA},
        "merge": merge or {"kind": "Append"},
    }


def csv(*ids: int) -> bytes:
    """Records with these ids."""
    rows = [f"2024-01-01T00:00:{number % 60:02}Z,{number},city {number}" for number in ids]
    return "\n".join(["at,id,city", *rows, ""]).encode()


@dataclass
class IngestNode:
    """A node, its worker and a token of `alice`."""

    node: RunningNode
    worker: WorkerProcess
    token: str

    def create(self, name: str, *events: dict[str, Any]) -> None:
        """A public dataset of alice."""
        body = manifest(name, *(events or (push_source(),)))
        answer = self.node.request("POST", "/datasets?visibility=Public", token=self.token, body=body)
        assert answer.status == 201, answer.data

    def post(self, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        """Status and JSON of a POST by alice."""
        sent = {"accept": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        answer = self.node.request("POST", path, token=self.token, body=body, headers=sent)
        return answer.status, json.loads(answer.data)

    def ingest(self, name: str, body: bytes, query: str = "", **headers: str) -> tuple[int, Any]:
        """Status and JSON of an ingest into alice's dataset."""
        return self.post(f"/alice/{name}/ingest{query}", body, **{"content_type": "text/csv", **headers})

    def chain(self, name: str) -> ChainNow:
        """The dataset's chain as the index has it."""

        async def read(context: NodeContext) -> ChainNow:
            async with connect(context.engine) as conn:
                found = await find_dataset(conn, DatasetAddress(AccountName("alice"), DatasetName(name)))
            assert found is not None
            return await read_chain(context, found.pk)

        return self.node.run(read)

    def records(self, name: str) -> list[dict[str, Any]]:
        """All records of the dataset, by offset, read from the bucket."""
        chain = self.chain(name)
        found: list[dict[str, Any]] = []
        for ref in chain.history.slices:
            key = dataset_prefix(chain.dataset.id) + object_key(ref)
            data = self.node.context.store.read(key, max_bytes=1 << 30)
            found.extend(pq.read_table(BytesIO(data)).to_pylist())
        return found
