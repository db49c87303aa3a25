"""`POST /datasets`: manifests of strangers."""

import pytest

from tests.ingesting import IngestNode, csv, manifest, push_source


def polling(fetch: dict[str, object], *prepare: dict[str, object]) -> dict[str, object]:
    return {
        "kind": "SetPollingSource",
        "fetch": fetch,
        "prepare": list(prepare),
        "read": {"kind": "Csv", "header": True, "schema": ["at TIMESTAMP", "id BIGINT", "city STRING"]},
        "merge": {"kind": "Ledger", "primaryKey": ["id"]},
    }


def _reading(*columns: str) -> dict[str, object]:
    source = push_source()
    source["read"]["schema"] = list(columns)
    return source


URL = {"kind": "Url", "url": "https://example.org/x.csv"}


def test_yaml_makes_a_private_dataset_of_the_caller(ingest_node: IngestNode) -> None:
    text = b"kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: my.own\n  kind: Root\n  metadata: []\n"
    status, made = ingest_node.post("/datasets", text)
    assert (status, made["datasetName"], made["visibility"], made["numBlocks"]) == (
        201,
        "my.own",
        "private",
        1,
    )
    assert made["owner"]["accountName"] == "alice"
    assert ingest_node.node.get("/alice/my.own/refs/head").status == 404
    assert ingest_node.node.get("/alice/my.own/refs/head", token=ingest_node.token).status == 200
    status, answer = ingest_node.post("/datasets", text)
    assert (status, answer["code"]) == (409, "name_collision")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_manifest"),
        (manifest("bob/x", push_source()), 403, "foreign_owner"),
        (manifest("x", push_source(), push_source()), 400, "invalid_snapshot"),
        (manifest("x", push_source({"kind": "Ledger", "primaryKey": ["town"]})), 400, "merge_key_missing"),
        (manifest("x", _reading("at TIMESTAMP", "id BIGGINT")), 400, "invalid_ddl_schema"),
        (manifest("x", _reading("at TIMESTAMP", "offset BIGINT")), 400, "bad_input_schema"),
        (manifest("x", polling({"kind": "FilesGlob", "path": "/etc/*"})), 403, "fetch_not_allowed"),
        (manifest("x", polling({"kind": "Url", "url": "file:///etc/passwd"})), 403, "fetch_not_allowed"),
        (manifest("x", polling({"kind": "Url", "url": "http://169.254.169.254/"})), 403, "fetch_not_allowed"),
        (manifest("x", polling({"kind": "Container", "image": "x"})), 403, "fetch_not_allowed"),
        (
            manifest("x", polling({"kind": "Mqtt", "host": "h", "port": 1, "topics": []})),
            403,
            "fetch_not_allowed",
        ),
        (manifest("x", polling(URL, {"kind": "Pipe", "command": ["sh"]})), 403, "fetch_not_allowed"),
    ],
)
def test_refused_manifests_leave_nothing(
    ingest_node: IngestNode, body: bytes, status: int, code: str
) -> None:
    found, answer = ingest_node.post("/datasets", body)
    assert (found, answer["code"]) == (status, code), answer
    assert ingest_node.node.get("/alice/x/refs/head", token=ingest_node.token).status == 404


def test_nobody_makes_datasets_without_a_token(ingest_node: IngestNode) -> None:
    answer = ingest_node.node.request("POST", "/datasets", body=manifest("y", push_source()))
    assert answer.status == 401
    assert ingest_node.node.request("POST", "/alice/y/ingest", body=csv(1)).status in (401, 404)


def test_a_wrong_parameter_is_told_with_what_is_allowed(ingest_node: IngestNode) -> None:
    status, answer = ingest_node.post("/datasets?visibility=Publik", manifest("z", push_source()))
    assert (status, answer["code"]) == (400, "invalid_request")
    says = "The request cannot be read: query.visibility: input should be 'private' or 'public'."
    assert answer["message"].lower() == says.lower()
    status, answer = ingest_node.post("/alice/z/pull?fetchUncacheable=perhaps")
    assert (status, "query.fetchUncacheable: input should be a valid boolean" in answer["message"]) == (
        400,
        True,
    )
