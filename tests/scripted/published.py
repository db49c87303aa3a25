"""The published dialect, written from its page alone: camelCase, DatasetError, a subprotocol."""

import base64
import io
import tarfile

from tests.scripted.block_peek import peek
from tests.scripted.deployed import Outcome, Refused, Remote
from tests.scripted.folder import Folder, plan
from tests.scripted.http import download, upload
from tests.scripted.websocket import RawWebSocket

SUBPROTOCOL = "odf/smart-transfer-protocol/v1"


def connect(remote: Remote, verb: str) -> RawWebSocket:
    return RawWebSocket.connect(
        f"{remote.url}/{verb}", remote.headers(), subprotocol=SUBPROTOCOL, timeout=remote.timeout
    )


def reply(ws: RawWebSocket) -> dict:
    """The next message; a DatasetError may come at any position."""
    message = ws.receive_json()
    if "errorDetails" in message:
        raise Refused(message["errorDetails"])
    return message


def batch(blocks: list[tuple[str, bytes]]) -> dict:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in blocks:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return {
        "objectsCount": len(blocks),
        "objectType": "MetadataBlock",
        "mediaType": "application/tar",
        "encoding": "base64",
        "payload": base64.b64encode(buffer.getvalue()).decode(),
    }


def unbatch(value: dict) -> list[tuple[str, bytes]]:
    assert value["objectType"] == "MetadataBlock"
    assert value["encoding"] == "base64"
    data = base64.b64decode(value["payload"], validate=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        blocks = [(entry.name, archive.extractfile(entry).read()) for entry in archive.getmembers()]
    assert len(blocks) == value["objectsCount"]
    return blocks


def size_estimation(chain: list) -> dict:
    numbers = plan(chain)
    return {
        "numBlocks": numbers["num_blocks"],
        "numObjects": numbers["num_objects"],
        "bytesInRawBlocks": numbers["bytes_in_raw_blocks"],
        "bytesInRawObjects": numbers["bytes_in_raw_objects"],
    }


def object_file(item: tuple[str, str, int]) -> dict:
    return {"objectType": item[0], "physicalHash": item[1]}


def pull(remote: Remote, dataset_id: str, local: Folder) -> Outcome:
    old = local.head()
    ws = connect(remote, "pull")
    ask = {"datasetId": dataset_id} | ({"beginAfter": old} if old else {})
    ws.send_json(ask)
    if reply(ws)["sizeEstimation"]["numBlocks"] == 0:
        ws.send_close(1000)
        return Outcome(False, old, old)
    ws.send_json({})
    blocks = unbatch(reply(ws)["blocks"])
    missing = [
        item
        for _, data in blocks
        for item in peek(data).objects
        if not local.object_path(item[0], item[1]).exists()
    ]
    if missing:
        ws.send_json({"objectFiles": [object_file(item) for item in missing]})
        for strategy in reply(ws)["objectTransferStrategies"]:
            assert strategy["pullStrategy"] == "HttpDownload"
            reference = strategy["objectFile"]
            local.put_object(
                reference["objectType"], reference["physicalHash"], download(strategy["downloadFrom"])
            )
    for name, data in blocks:
        local.put_block(name, data)
    local.set_head(blocks[-1][0])
    ws.send_close(1000)
    return Outcome(True, old, blocks[-1][0], len(blocks))


def push(remote: Remote, dataset_id: str, local: Folder) -> Outcome:
    old = remote.head()
    head = local.head()
    if old == head:
        return Outcome(False, old, old)
    chain = local.chain(tail=old)
    ws = connect(remote, "push")
    ws.send_json({"datasetId": dataset_id, "currentHead": old, "sizeEstimation": size_estimation(chain)})
    reply(ws)
    ws.send_json({"newBlocks": batch([(name, data) for name, data, _ in chain])})
    reply(ws)
    objects = [item for _, _, facts in chain for item in facts.objects]
    skipped = 0
    if objects:
        ws.send_json({"objectFiles": [object_file(item) for item in objects]})
        for strategy in reply(ws)["objectTransferStrategies"]:
            if strategy["pushStrategy"] == "SkipUpload":
                skipped += 1
                continue
            reference = strategy["objectFile"]
            data = local.object_path(reference["objectType"], reference["physicalHash"]).read_bytes()
            status = upload(strategy["uploadTo"], data)
            if not 200 <= status < 300:
                raise Refused(("upload", status))
    ws.send_json({})
    reply(ws)
    ws.send_close(1000)
    return Outcome(True, old, head, len(chain), skipped)


def complete_without_objects(ws: RawWebSocket) -> None:
    """The end of a push whose blocks name no objects: an empty list, then the completion."""
    ws.send_json({"objectFiles": []})
    reply(ws)
    ws.send_json({})
    reply(ws)
    ws.send_close(1000)
