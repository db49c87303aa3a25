"""Datasets pushed to one node, and mirrored by another."""

import json
from pathlib import Path
from typing import Any

from app.mirrors.repositories import register
from odf_core.transfer import Visibility
from odf_core.transfer.client import SILENT, DatasetAddress, DatasetFolder, Http, SmartPush, TransferOptions
from tests.builders.dataset_builder import DatasetBuilder
from tests.ingesting import IngestNode
from tests.running_node import RunningNode


def push(
    node: RunningNode,
    builder: DatasetBuilder,
    folder: Path,
    name: str,
    *,
    token: str | None = None,
    visibility: Visibility = Visibility.PUBLIC,
    force: bool = False,
) -> None:
    """The builder's dataset on the node, as alice pushes it."""
    there = DatasetFolder(builder.write(folder / name))
    address = DatasetAddress.parse(f"odf+{node.base_url}/alice/{name}")
    with Http(TransferOptions()) as http:
        SmartPush(
            http, address, there, builder.id, token or node.token_of("alice"), SILENT, force, visibility
        ).run()


def add_repo(node: RunningNode, name: str, url: str, *, token: str | None = None, accounts: Any = ()) -> None:
    """What `odf admin repo add` does."""
    node.run(lambda context: register(context.engine, name, url, token=token, accounts=accounts))


def mirror(node: IngestNode, source: object, token: str | None = None, **more: Any) -> tuple[int, Any]:
    """Status and JSON of the request, waited for."""
    answer = node.node.request(
        "POST",
        "/mirrors",
        token=token or node.token,
        body=json.dumps({"source": str(source), **more}).encode(),
        headers={"accept": "application/json"},
    )
    return answer.status, json.loads(answer.data)


def head_of(node: RunningNode, address: str, token: str | None = None) -> str | None:
    """The head of a dataset, None where the caller may not see one."""
    answer = node.get(f"/{address}/refs/head", token=token)
    return answer.data.decode() if answer.status == 200 else None
