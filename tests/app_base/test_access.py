"""Who may see what: tokens, and that a private dataset looks absent on every route (peers.md 16)."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from app.accounts import service as accounts
from app.accounts.tokens import PersonalToken
from app.datasets.admin import set_visibility
from app.settings import Settings
from odf_core.identity import DatasetAlias
from tests.app_base.publishing import city, publish
from tests.builders.chain_builder import ChainBuilder
from tests.running_node import RunningNode, running_node

DATED = {"date", "x-request-id"}


@pytest.fixture(scope="module")
def private() -> ChainBuilder:
    return city("private")


@pytest.fixture(scope="module")
def served(shared_node: RunningNode, private: ChainBuilder) -> Iterator[RunningNode]:
    publish(shared_node, private, "alice/hidden", "private")
    publish(shared_node, city("public"), "alice/shown", "public")
    yield shared_node


@pytest.fixture(scope="module")
def alice(served: RunningNode) -> str:
    return served.token_of("alice")


@pytest.fixture(scope="module")
def stranger(served: RunningNode) -> str:
    return served.token_of("mallory")


def paths(node: RunningNode, private: ChainBuilder) -> list[tuple[str, str]]:
    """(method, path below a dataset) of every HTTP route of datasets, with content that exists."""
    files = private.files()
    names = {"reference": "head", "block_hash": str(private.head)}
    found = []
    for template, operations in node.app.openapi()["paths"].items():
        if not template.startswith("/{account}/{dataset}"):
            continue
        below = template.removeprefix("/{account}/{dataset}")
        folder = below.split("/")[1]
        physical = next(
            (name.rpartition("/")[2] for name in files if name.startswith(f"{folder}/")), "f1620" + "0" * 64
        )
        filled = re.sub(r"{(\w+)}", lambda match: names.get(match[1], physical), below)  # noqa: B023
        found += [(method.upper(), filled) for method in operations]
    return found


def facts(node: RunningNode, method: str, path: str, token: str | None) -> tuple[int, bytes, dict[str, str]]:
    body = b"x" if method in ("PUT", "POST") else None
    answer = node.request(method, path, token=token, body=body)
    headers = {name: value for name, value in answer.headers.items() if name not in DATED}
    data = re.sub(rb'"requestId":"\w+"', b"", answer.data)
    return answer.status, data, headers


def test_every_route_hides_a_private_dataset(
    served: RunningNode, private: ChainBuilder, stranger: str
) -> None:
    walked = paths(served, private)
    assert {"/refs/head", f"/blocks/{private.head}"} <= {path for _, path in walked}
    assert len({path.split("/")[1] for _, path in walked}) >= 4
    for token in (None, stranger):
        for method, path in walked:
            hidden = facts(served, method, f"/alice/hidden{path}", token)
            missing = facts(served, method, f"/alice/no-such{path}", token)
            assert hidden == missing, (method, path)
            assert hidden[0] in (401, 404), (method, path, hidden)


def test_json_bodies_hide_it_too(served: RunningNode, stranger: str) -> None:
    def body(name: str) -> dict[str, object]:
        answer = served.get(
            f"/alice/{name}/refs/head", token=stranger, headers={"accept": "application/json"}
        )
        found: dict[str, object] = answer.json()
        found.pop("requestId")
        return found

    assert body("hidden") == body("no-such")


def test_by_id_a_private_dataset_is_absent(served: RunningNode, private: ChainBuilder, stranger: str) -> None:
    unknown = city("never-pushed").dataset_id
    for token in (None, stranger):
        hidden = served.get(f"/datasets/{private.dataset_id}", token=token)
        missing = served.get(f"/datasets/{unknown}", token=token)
        assert (
            (hidden.status, hidden.data)
            == (missing.status, missing.data)
            == (404, b'{"message":"Not Found"}')
        )


def test_the_owner_and_an_admin_see_it(served: RunningNode, private: ChainBuilder, alice: str) -> None:
    async def admin(context):  # type: ignore[no-untyped-def]
        await accounts.create_account(context.engine, "root", is_admin=True)
        return (await accounts.create_token(context.engine, "root", "t")).text

    for token in (alice, served.run(admin)):
        for name, content in private.files().items():
            answer = served.get(f"/alice/hidden/{name}", token=token)
            assert (answer.status, answer.data) == (200, content)
            assert answer.headers["cache-control"].startswith("private")
        info = served.get(f"/datasets/{private.dataset_id}", token=token).json()
        assert info["datasetName"] == "hidden"
        assert info["owner"]["accountName"] == "alice"
        assert info["owner"]["accountId"].startswith("did:odf:fed01")


def test_anonymous_reads_public_datasets(served: RunningNode) -> None:
    assert served.get("/alice/shown/refs/head").status == 200


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic abc", "token"])
@pytest.mark.parametrize(
    "path", ["/alice/shown/refs/head", "/alice/no-such/refs/head", "/info", "/accounts/me"]
)
def test_malformed_authorization(served: RunningNode, header: str, path: str) -> None:
    answer = served.get(path, headers={"authorization": header})
    assert (answer.status, answer.data) == (400, b"Invalid Bearer token header")


def test_refused_tokens(served: RunningNode) -> None:
    async def make(context):  # type: ignore[no-untyped-def]
        engine = context.engine
        await accounts.ensure_account(engine, "carol")
        past = datetime.now(UTC) - timedelta(seconds=1)
        expired = await accounts.create_token(engine, "carol", "old", expires_at=past)
        revoked = await accounts.create_token(engine, "carol", "gone")
        await accounts.revoke_token(engine, revoked.info.id)
        good = await accounts.create_token(engine, "carol", "good")
        return expired.text, revoked.text, good

    expired, revoked, good = served.run(make)
    forged = PersonalToken(good.info.id, bytes(16)).text
    cases = {
        expired: b"Authentication token expired",
        revoked: b"Authentication token invalid",
        forged: b"Authentication token invalid",
        PersonalToken.generate().text: b"Authentication token invalid",
        "some-odf-token": b"Authentication token invalid",
    }
    for token, text in cases.items():
        for path in ("/alice/shown/refs/head", "/alice/hidden/refs/head", "/alice/no-such/refs/head"):
            answer = served.get(path, token=token)
            assert (answer.status, answer.data) == (401, text), path
        validated = served.get("/platform/token/validate", token=token)
        assert (validated.status, validated.json()) == (401, {"message": text.decode()})
        assert served.get("/accounts/me", token=token).json() == {"message": "Unauthenticated"}
        assert served.get("/info", token=token).status == 200
    assert served.get("/platform/token/validate", token=good.text).status == 200


def test_who_am_i(served: RunningNode, alice: str) -> None:
    me = served.get("/accounts/me", token=alice)
    assert me.status == 200
    assert me.json()["accountName"] == "alice"
    assert me.json()["id"].startswith("did:odf:fed01")
    nobody = served.get("/accounts/me")
    assert (nobody.status, nobody.json()) == (401, {"message": "Unauthenticated"})
    none = served.get("/platform/token/validate")
    assert (none.status, none.json()) == (401, {"message": "No authentication token provided"})
    malformed = served.get("/platform/token/validate", headers={"authorization": "Basic x"})
    assert malformed.status == 400
    assert served.get("/platform/token/validate", token=alice).data == b""
    assert served.get("/info").json() == {"isMultiTenant": True}


def test_a_restricted_node_lets_nobody_read_unnamed(node_settings: Settings) -> None:
    restricted = node_settings.accounts.model_copy(update={"anonymous_read": False})
    with running_node(node_settings.model_copy(update={"accounts": restricted})) as node:
        publish(node, city(), "alice/city", "public")
        for path in ("/alice/city/refs/head", "/alice/no-such/refs/head", "/info", "/accounts/me"):
            answer = node.get(path)
            assert (answer.status, answer.data) == (401, b"Anonymous account is restricted"), path
        assert node.get("/platform/token/validate").status == 401
        assert node.get("/health/live").status == 200
        assert node.get("/alice/city/refs/head", token=node.token_of("bob")).status == 200


def test_visibility_can_be_changed(node: RunningNode) -> None:
    built = city()
    publish(node, built, "alice/city", "private")
    assert node.get("/alice/city/refs/head").status == 404

    async def show(context):  # type: ignore[no-untyped-def]
        return await set_visibility(context, DatasetAlias.parse("Alice/City"), "public")

    assert node.run(show).visibility == "public"
    assert node.get("/alice/city/refs/head").status == 200
    kept = node.context.store.read(f"{built.dataset_id.multibase}/info/node.json", max_bytes=1000)
    assert b'"visibility":"public"' in kept


def test_last_use_is_noted(node: RunningNode) -> None:
    token = node.token_of("alice")

    async def tokens(context):  # type: ignore[no-untyped-def]
        return await accounts.list_tokens(context.engine, "alice")

    assert node.run(tokens)[0].last_used_at is None
    node.get("/accounts/me", token=token)
    first = node.run(tokens)[0].last_used_at
    node.get("/accounts/me", token=token)
    assert first is not None
    assert node.run(tokens)[0].last_used_at == first, "once a minute at most"
