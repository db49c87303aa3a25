"""Commands without a token, or with one that does not count: a node says that one has to log in, and how."""

import io
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from app.accounts.service import create_token, revoke_token
from app.context import NodeContext
from app.ops.logs import configure_logging
from app.settings import LogSettings, Settings
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.cli.conftest import Odf, Ran
from tests.running_node import RunningNode, running_node

_numbers = itertools.count()
_node_log = io.StringIO()
NO_TOKEN, BAD_TOKEN = "remote_unauthenticated", "remote_token_refused"


@pytest.fixture(scope="module", autouse=True)
def quiet_node() -> Iterator[None]:
    """The node runs in this process: its log must not mix with what the commands print."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    configure_logging(LogSettings(), _node_log)
    yield
    structlog.reset_defaults()
    root.handlers, root.level = handlers, level


@pytest.fixture
def foo(tmp_path: Path, odf: Odf) -> DatasetBuilder:
    """A dataset `foo` in the workspace of the commands."""
    dataset = root_dataset(f"logged out {next(_numbers)}")
    there = dataset.write(tmp_path / "there")
    assert odf("init").code == 0
    assert odf("pull", f"file://{there}", "--as", "foo").code == 0
    return dataset


def add_repo(odf: Odf, node: RunningNode) -> None:
    assert odf("repo", "add", "node", f"odf+{node.base_url}").code == 0


def assert_told(ran: Ran, code: str, node: RunningNode) -> None:
    """Exit code of the family *access*, the code, and the very command that helps."""
    assert (ran.code, ran.error["code"]) == (5, code), ran.err
    assert f"`odf login {node.base_url}`" in ran.error["message"]


@pytest.mark.parametrize("target", ["node", "node/foo", "node/alice/foo", "URL"])
def test_a_push_of_nobody(shared_node: RunningNode, odf: Odf, foo: DatasetBuilder, target: str) -> None:
    add_repo(odf, shared_node)
    where = target.replace("URL", f"odf+{shared_node.base_url}/alice/foo")
    assert_told(odf("push", "foo", where, "-o", "json"), NO_TOKEN, shared_node)


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_nobody_and_a_dataset_that_is_there(
    shared_node: RunningNode, odf: Odf, foo: DatasetBuilder, tmp_path: Path, visibility: str
) -> None:
    """The node says 404 of a private one and 403 of a public one; one has to log in for either."""
    add_repo(odf, shared_node)
    options = ("--token", shared_node.token_of("bob"), "--visibility", visibility)
    assert odf("push", "foo", f"node/bob/{visibility}", *options).code == 0
    foo.info("newer").write(tmp_path / "there")
    assert odf("pull", "foo").text.startswith("1 dataset(s) updated")
    assert_told(odf("push", "foo", f"node/bob/{visibility}", "-o", "json"), NO_TOKEN, shared_node)


def test_a_pull_of_nobody(shared_node: RunningNode, odf: Odf, foo: DatasetBuilder) -> None:
    """Whether there is such a dataset is not told; that one may log in is."""
    add_repo(odf, shared_node)
    unknown = odf("pull", "node/foo", "--as", "other", "-o", "json")
    assert (unknown.code, unknown.error["code"]) == (3, "address_unresolved")
    by_id = odf("pull", f"node/{foo.id}", "--as", "other", "-o", "json")
    assert (by_id.code, by_id.error["code"]) == (3, "address_unresolved")
    hidden = odf("pull", "node/carol/foo", "--as", "other", "-o", "json")
    assert (hidden.code, hidden.error["code"]) == (4, "remote_dataset_not_found")
    for ran in (unknown, by_id, hidden):
        assert f"`odf login {shared_node.base_url}`" in ran.error["message"]


@pytest.mark.parametrize("kind", ["wrong", "revoked"])
def test_a_token_that_does_not_count(
    shared_node: RunningNode, odf: Odf, foo: DatasetBuilder, kind: str
) -> None:
    async def revoked(context: NodeContext) -> str:
        token = await create_token(context.engine, "dora", "gone")
        await revoke_token(context.engine, token.info.id)
        return token.text

    add_repo(odf, shared_node)
    shared_node.token_of("dora")
    token = shared_node.run(revoked) if kind == "revoked" else "ka_wrong"
    commands = [
        *(("push", "foo", target) for target in ("node", "node/foo", "node/dora/foo")),
        *(("pull", source, "--as", "other") for source in ("node/foo", "node/dora/foo", f"node/{foo.id}")),
        ("login", shared_node.base_url),
    ]
    for command in commands:
        ran = odf(*command, "--token", token, "-o", "json")
        assert_told(ran, BAD_TOKEN, shared_node)
        assert token not in ran.err + ran.text + _node_log.getvalue()


@pytest.mark.parametrize(
    "command",
    [("push", "foo", "node"), ("push", "foo", "node/foo"), ("pull", "node/foo"), ("pull", "node/eve/foo")],
    ids=" ".join,
)
def test_a_node_that_lets_nobody_ask(
    node_settings: Settings,
    odf: Odf,
    foo: DatasetBuilder,
    command: tuple[str, ...],
) -> None:
    """Not even whether it has accounts."""
    accounts = node_settings.accounts.model_copy(update={"anonymous_read": False})
    with running_node(node_settings.model_copy(update={"accounts": accounts})) as node:
        add_repo(odf, node)
        assert_told(odf(*command, "-o", "json"), NO_TOKEN, node)


def test_a_node_with_one_owner(node_settings: Settings, odf: Odf, foo: DatasetBuilder) -> None:
    """Also there nobody pushes without a token; afterwards the private dataset is hidden from nobody."""
    with running_node(node_settings.model_copy(update={"tenancy": "single"})) as node:
        add_repo(odf, node)
        assert_told(odf("push", "foo", "node", "-o", "json"), NO_TOKEN, node)
        token = node.token_of(node.settings.accounts.default_account)
        assert odf("login", node.base_url, "--token", token).code == 0
        assert odf("push", "foo", "node").text.startswith("1 dataset(s) pushed")
        assert odf("logout", node.base_url).code == 0
        assert_told(odf("push", "foo", "node", "-o", "json"), NO_TOKEN, node)
