"""Verification on the node: the verdict, the signed finding, and a chain that tells what is not so."""

import base64
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.context import NodeContext
from odf_core.identity.did import KeyDid
from odf_core.storage import dataset_prefix, object_key
from tests.app_transform.deriving import derive, finished, get, wait
from tests.ingesting import IngestNode, csv


def test_a_verdict_is_asked_for_signed_and_shown(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("trusted")
    made = derive(node, "trusted.odd", {"t": "trusted"}, "SELECT at, id FROM t WHERE id % 2 = 1")
    assert finished(node, made["job"])["state"] == "done"
    assert get(node, "/alice/trusted.odd/verification")[1]["verdict"] == "Unknown"
    assert node.ingest("trusted", csv(*range(10)))[0] == 200
    wait(node, lambda: [item["id"] for item in node.records("trusted.odd")][-1:] == [9])
    status, found = node.post("/alice/trusted.odd/verification")
    assert (status, found["ok"]) == (200, True), (found, node.worker.tell())
    assert (found["replay"]["steps"], found["replay"]["replayed"]) == (1, 1)
    seen = get(node, "/alice/trusted.odd/verification")[1]
    assert (seen["verdict"], seen["isCurrent"], seen["isPending"]) == ("Good", True, False)
    statement = _opened(get(node, "/alice/trusted.odd/attestations")[1]["attestations"][0])
    assert statement["subject"][0]["name"] == str(node.chain("trusted.odd").dataset.id)
    assert node.ingest("trusted", csv(21))[0] == 200
    wait(node, lambda: get(node, "/alice/trusted.odd/verification")[1]["isCurrent"] is False)
    bob = node.node.token_of("bob")
    refused = node.node.request("POST", "/alice/trusted.odd/verification", token=bob)
    assert refused.status == 403


def test_a_file_that_was_changed_is_found(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("spoilt")
    assert node.ingest("spoilt", csv(1, 2, 3))[0] == 200
    chain = node.chain("spoilt")
    key = dataset_prefix(chain.dataset.id) + object_key(chain.history.slices[0])

    async def spoil(context: NodeContext) -> None:
        data = bytearray(context.store.read(key, max_bytes=1 << 20))
        data[len(data) // 2] ^= 1
        context.store.delete([key])
        context.store.write(key, bytes(data), size=len(data))

    node.node.run(spoil)
    status, found = node.post("/alice/spoilt/verification")
    assert (status, found["ok"]) == (200, False)
    assert found["findings"][0]["code"] == "object_hash_mismatch"
    assert get(node, "/alice/spoilt/verification")[1]["verdict"] == "Bad"


def _opened(envelope: dict[str, Any]) -> dict[str, Any]:
    """The statement, its signature checked."""
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    signature = envelope["signatures"][0]
    signer = KeyDid.from_did_key(signature["keyid"])
    Ed25519PublicKey.from_public_bytes(signer.public_key).verify(base64.b64decode(signature["sig"]), signed)
    statement: dict[str, Any] = json.loads(payload)
    return statement
