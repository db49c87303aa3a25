"""Derivative datasets on a node, as a client makes and watches them."""

import json
import time
from collections.abc import Callable
from typing import Any

from tests.ingesting import IngestNode

SECONDS = 120


def derivative(
    name: str, inputs: dict[str, str], *queries: str, engine: str = "spark", event_time: str = "at"
) -> bytes:
    """A snapshot; `inputs` are references by their names in the queries, the last query is the result."""
    steps = [
        {"query": query} if number == len(queries) else {"query": query, "alias": f"step{number}"}
        for number, query in enumerate(queries, 1)
    ]
    transform = {
        "kind": "SetTransform",
        "inputs": [{"datasetRef": ref, "alias": alias} for alias, ref in inputs.items()],
        "transform": {"kind": "Sql", "engine": engine, "queries": steps},
    }
    vocabulary = {"kind": "SetVocab", "eventTimeColumn": event_time}
    content = {"name": name, "kind": "Derivative", "metadata": [transform, vocabulary]}
    return json.dumps({"kind": "DatasetSnapshot", "version": 1, "content": content}).encode()


def derive(node: IngestNode, name: str, inputs: dict[str, str], *queries: str) -> dict[str, Any]:
    """A public derivative dataset of alice; the answer of the node."""
    status, made = node.post("/datasets?visibility=Public", derivative(name, inputs, *queries))
    assert status == 201, made
    found: dict[str, Any] = made
    return found


def get(node: IngestNode, path: str, token: str | None = None) -> tuple[int, Any]:
    answer = node.node.get(path, token=token or node.token, headers={"accept": "application/json"})
    return answer.status, json.loads(answer.data)


def finished(node: IngestNode, address: str) -> dict[str, Any]:
    """A job when it is over."""
    return wait(node, lambda: (job := get(node, address)[1]).get("finishedAt") and job)


def wait(node: IngestNode, look: Callable[[], Any]) -> Any:
    """What `look` gives as soon as it is true."""
    deadline = time.monotonic() + SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, node.worker.tell()
        time.sleep(0.05)
    return found
