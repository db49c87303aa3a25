"""The Simple Transfer Protocol over a real node: refs, blocks, data, checkpoints (wire.md 1)."""

import pytest

from app.settings import Settings
from odf_core.identity import Multihash, ObjectKind, ObjectRef, multibase_decode
from odf_core.identity.base58 import base58_encode
from odf_core.limits import MiB
from odf_core.storage import object_key
from tests.app_base.publishing import city, publish
from tests.builders.chain_builder import ChainBuilder, chain
from tests.running_node import RunningNode, running_node


@pytest.fixture(scope="module")
def built() -> ChainBuilder:
    return city()


@pytest.fixture(scope="module")
def served(shared_node: RunningNode, built: ChainBuilder) -> RunningNode:
    assert publish(shared_node, built).findings == []
    return shared_node


def test_head_is_text_without_newline(served: RunningNode, built: ChainBuilder) -> None:
    answer = served.get("/alice/city/refs/head")
    assert (answer.status, answer.data) == (200, str(built.head).encode())
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-length"] == "69"
    assert "server" not in answer.headers
    again = served.get("/alice/city/refs/head", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status, again.data) == (304, b"")


@pytest.mark.parametrize("path", ["/ALICE/City/refs/head", "/alice/CITY/refs/head"])
def test_names_in_any_case(served: RunningNode, path: str) -> None:
    assert served.get(path).status == 200


def test_every_file_comes_as_it_was_stored(served: RunningNode, built: ChainBuilder) -> None:
    for name, content in built.files().items():
        whole, head = served.get(f"/alice/city/{name}"), served.head(f"/alice/city/{name}")
        assert (whole.status, whole.data) == (200, content), name
        assert (head.status, head.data) == (200, b""), name
        for answer in (whole, head):
            assert answer.headers["content-length"] == str(len(content))
            assert answer.headers["accept-ranges"] == "bytes"
            if name != "refs/head":
                assert answer.headers["content-type"] == "application/octet-stream"
                assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
                assert answer.headers["etag"] == f'"{name.rpartition("/")[2]}"'


@pytest.mark.parametrize("folder", ["blocks", "data", "checkpoints"])
def test_ranges_and_conditions(served: RunningNode, built: ChainBuilder, folder: str) -> None:
    name, content = next(item for item in built.files().items() if item[0].startswith(folder))
    path, tag = f"/alice/city/{name}", f'"{name.rpartition("/")[2]}"'
    part = served.get(path, headers={"range": "bytes=2-5"})
    assert (part.status, part.data) == (206, content[2:6])
    assert part.headers["content-range"] == f"bytes 2-5/{len(content)}"
    assert part.headers["content-length"] == "4"
    tail = served.get(path, headers={"range": "bytes=-3", "if-range": tag})
    assert (tail.status, tail.data) == (206, content[-3:])
    changed = served.get(path, headers={"range": "bytes=2-5", "if-range": '"other"'})
    assert (changed.status, changed.data) == (200, content)
    beyond = served.get(path, headers={"range": f"bytes={len(content)}-"})
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(content)}")
    assert beyond.json()["code"] == "range_not_satisfiable"
    known = served.get(path, headers={"if-none-match": f'"x", W/{tag}'})
    assert (known.status, known.data, known.headers["etag"]) == (304, b"", tag)


def test_any_spelling_of_a_hash(served: RunningNode, built: ChainBuilder) -> None:
    text = str(built.head)
    raw = multibase_decode(text)
    for spelling in ("F" + text[1:].upper(), "z" + base58_encode(raw)):
        answer = served.get(f"/alice/city/blocks/{spelling}")
        assert (answer.status, answer.data) == (200, built.last.data)
        assert answer.headers["etag"] == f'"{text}"'


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/nobody/city/refs/head", 404, b""),
        ("/alice/nothing/refs/head", 404, b""),
        ("/alice/nothing/blocks/f1620", 404, b""),
        ("/alice/did:odf:fed01/refs/head", 400, b""),
        ("/alice/-city/refs/head", 400, b""),
        ("/alice/city/refs/head/", 404, b"Not Found"),
        ("/alice/city", 404, b"Not Found"),
        ("/", 404, b"Not Found"),
    ],
)
def test_plain_bodies_of_the_deployed_dialect(
    served: RunningNode, path: str, status: int, body: bytes
) -> None:
    answer = served.get(path)
    assert (answer.status, answer.data) == (status, body)
    asked = served.get(path, headers={"accept": "application/json"})
    assert asked.status == status
    assert set(asked.json()) == {"message", "code", "family", "objects", "requestId"}
    assert asked.json()["requestId"] == asked.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("refs/tail", "ref_not_found"),
        ("blocks/f1620" + "00" * 32, "block_not_found"),
        ("data/f1620" + "00" * 32, "dataset_object_not_found"),
        ("checkpoints/f1620" + "00" * 32, "dataset_object_not_found"),
    ],
)
def test_unknown_content_has_a_json_body(served: RunningNode, path: str, code: str) -> None:
    answer = served.get(f"/alice/city/{path}")
    assert (answer.status, answer.json()["code"]) == (404, code)
    assert answer.json()["message"]


@pytest.mark.parametrize("folder", ["blocks", "data", "checkpoints"])
def test_an_unreadable_hash_is_400_with_a_text(served: RunningNode, folder: str) -> None:
    for name in ("head", "f16", "f1620" + "zz" * 32, "f9920" + "00" * 32, "f1620" + "00" * 32 + "%0A"):
        answer = served.get(f"/alice/city/{folder}/{name}")
        assert answer.status == 400
        assert answer.headers["content-type"].startswith("text/plain")
        assert answer.data


def test_methods(served: RunningNode) -> None:
    answer = served.request("DELETE", "/alice/city/refs/head")
    assert answer.status == 405
    assert answer.json()["code"] == "method_not_allowed"


def test_blocks_that_a_forced_push_replaced_stay_readable(node: RunningNode) -> None:
    old = chain("c").seed().schema().add_data(10)
    new = chain("c").seed().schema().add_data(20)
    publish(node, old)
    folder = publish_over(node, old, new)
    answer = node.get(f"/alice/city/blocks/{old.head}")
    assert (answer.status, answer.data) == (200, old.last.data), folder


def publish_over(node: RunningNode, old: ChainBuilder, new: ChainBuilder) -> str:
    """What a forced push leaves: the head of another chain, the old blocks beside it; the index is lost."""
    from sqlalchemy import delete

    from app.database import begin
    from app.datasets.tables import Dataset

    async def forget(context):  # type: ignore[no-untyped-def]
        async with begin(context.engine) as conn:
            await conn.execute(delete(Dataset))

    node.run(forget)
    publish(node, new)
    return old.dataset_id.multibase


def test_a_big_object_streams_in_pieces(node: RunningNode) -> None:
    content = bytes(range(256)) * (9 * MiB // 256) + b"end"
    built = chain("big").seed().schema().add_data(3, content=content)
    assert publish(node, built).findings == []
    name = object_key(ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(content), None))
    assert node.get(f"/alice/city/{name}").data == content
    part = node.get(f"/alice/city/{name}", headers={"range": f"bytes={len(content) - 5}-"})
    assert (part.status, part.data) == (206, content[-5:])


def test_an_object_that_is_gone_or_changed_is_an_error_before_the_answer(node: RunningNode) -> None:
    built = city()
    publish(node, built)
    folder, store = built.dataset_id.multibase, node.context.store
    name = next(name for name in built.files() if name.startswith("data/"))
    store.write(f"{folder}/{name}", b"other", size=5)
    answer = node.get(f"/alice/city/{name}")
    assert (answer.status, answer.json()["code"]) == (500, "stored_object_changed")
    store.delete([f"{folder}/{name}"])
    answer = node.get(f"/alice/city/{name}")
    assert (answer.status, answer.json()["code"]) == (404, "object_not_found")
    assert node.head(f"/alice/city/{name}").status == 200, "HEAD is answered from the index"


def test_single_tenant_addresses(node_settings: Settings, built: ChainBuilder) -> None:
    settings = node_settings.model_copy(update={"tenancy": "single"})
    with running_node(settings) as node:
        publish(node, built, alias="odf/city")
        assert node.get("/City/refs/head").data == str(built.head).encode()
        assert node.get("/odf/city/refs/head").data == b"Not Found"
        assert node.get("/info").json() == {"isMultiTenant": False}
        for name, content in built.files().items():
            assert node.get(f"/city/{name}").data == content


def test_cors(served: RunningNode) -> None:
    asked = served.request(
        "OPTIONS",
        "/alice/city/refs/head",
        headers={
            "origin": "https://x.example",
            "access-control-request-method": "GET",
            "access-control-request-headers": "authorization",
        },
    )
    assert asked.status == 200
    assert asked.headers["access-control-allow-origin"] == "*"
    assert "POST" in asked.headers["access-control-allow-methods"]
    assert asked.headers["access-control-allow-headers"] == "authorization"
    assert (
        served.get("/info", headers={"origin": "https://x.example"}).headers["access-control-allow-origin"]
        == "*"
    )
