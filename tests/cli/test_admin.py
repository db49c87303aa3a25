"""`odf serve` and `odf admin` on real Postgres and S3."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.builders.chain_builder import chain
from tests.cli.conftest import Odf
from tests.client.local import files, write
from tests.services import S3Bucket

STARTED_SECONDS = 60


@pytest.fixture
def settings(database_url: str, s3_bucket: S3Bucket, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a node on services of its own."""
    values = {
        "ODF_DATABASE__URL": database_url,
        "ODF_S3__ENDPOINT": s3_bucket.endpoint,
        "ODF_S3__REGION": s3_bucket.region,
        "ODF_S3__BUCKET": s3_bucket.bucket,
        "ODF_S3__ACCESS_KEY_ID": s3_bucket.access_key_id,
        "ODF_S3__SECRET_ACCESS_KEY": s3_bucket.secret_access_key,
        "ODF_LOG__LEVEL": "warning",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return values


@pytest.fixture
def node(settings: dict[str, str], tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A node in a process of its own: its address, and the process."""
    script = "from app.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        env={**os.environ, **settings},
        cwd=Path(__file__).resolve().parents[2],
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("Node:   http://127.0.0.1:"), line
        yield line.split()[1], process
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


def test_accounts_and_tokens(odf: Odf, settings: dict[str, str]) -> None:
    assert odf("admin", "migrate").code == 0
    made = odf("admin", "account", "create", "alice", "--display-name", "Alice", "-o", "json").json
    assert made["id"].startswith("did:odf:fed01")
    assert odf("admin", "account", "create", "Alice").code == 6
    assert odf("admin", "account", "create", "not_a_name").code == 3
    assert [row["name"] for row in odf("admin", "account", "list", "-o", "json").json] == ["alice"]

    token = odf("admin", "token", "create", "alice", "--name", "laptop", "--days", "30").text.strip()
    assert token.startswith("ka_")
    (row,) = odf("admin", "token", "list", "alice", "-o", "json").json
    assert (row["name"], row["revokedAt"]) == ("laptop", None)
    assert row["expiresAt"] > row["createdAt"]
    assert token not in str(row)
    assert odf("admin", "token", "revoke", row["id"]).code == 0
    assert odf("admin", "token", "list", "alice", "-o", "json").json[0]["revokedAt"] is not None
    assert odf("admin", "token", "revoke", "00000000-0000-0000-0000-000000000000").code == 4
    assert odf("admin", "token", "revoke", "nonsense").code == 2
    assert odf("admin", "token", "create", "bob").code == 4


def test_an_empty_node(odf: Odf, settings: dict[str, str]) -> None:
    odf("admin", "migrate")
    assert odf("admin", "dataset", "list", "-o", "json").json == []
    assert odf("admin", "dataset", "set-visibility", "alice/foo", "public").code == 4
    assert odf("admin", "dataset", "delete", "alice/foo", "--yes").code == 4
    report = odf("admin", "reindex", "-o", "json").json
    assert (report["datasets"], report["findings"]) == (0, [])


def test_a_database_without_tables(odf: Odf, settings: dict[str, str], database_url: str) -> None:
    """Reindex is for a database that is lost: it makes the tables, where others say that they lack."""
    with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("DROP SCHEMA jobs CASCADE")
        connection.execute("CREATE SCHEMA public")
    refused = odf("admin", "dataset", "list")
    assert refused.code == 11
    assert "odf admin migrate" in refused.err
    assert odf("admin", "reindex", "-o", "json").json["datasets"] == 0
    assert odf("admin", "dataset", "list", "-o", "json").json == []


def test_a_node_from_start_to_end(odf: Odf, node: tuple[str, subprocess.Popen[str]], tmp_path: Path) -> None:
    address, process = node
    builder = chain("foo").seed().push_source().schema().add_data(None, checkpoint=b"state" * 1000)
    write(builder, tmp_path / "there")
    odf("admin", "account", "create", "alice")
    token = odf("admin", "token", "create", "alice").text.strip()
    odf("init")
    login = odf("login", address, "--token", token, "--repo-name", "node", "-o", "json")
    assert (login.code, login.err) == (0, "")
    assert login.json["account"] == "alice"
    odf("pull", f"file://{tmp_path}/there", "--as", "foo")

    pushed = odf("push", "foo", "node", "-o", "json")
    assert (pushed.code, pushed.json["address"]) == (0, f"odf+{address}/alice/foo/")
    (row,) = odf("admin", "dataset", "list", "-o", "json").json
    assert (row["name"], row["visibility"], row["blocks"]) == ("alice/foo", "private", 4)

    odf("logout", address)
    assert odf("pull", f"odf+{address}/alice/foo", "--as", "copy").code == 4
    assert odf("admin", "dataset", "set-visibility", "alice/foo", "public").code == 0
    odf("delete", "foo", "--yes")
    for number, url in enumerate((f"odf+{address}/alice/foo", f"{address}/alice/foo")):
        assert odf("pull", url, "--as", f"copy-{number}").code == 0
        found = odf("show", f"copy-{number}", "-o", "json").json
        assert found["head"] == str(builder.head)
        folder = tmp_path / "work" / ".odf" / "datasets" / builder.dataset_id.multibase
        assert files(folder) == builder.files()
        odf("delete", f"copy-{number}", "--yes")
    assert odf("chain", "check", f"{address}/alice/foo").code == 0
    assert odf("admin", "dataset", "delete", "alice/foo", "--yes", "-o", "json").json["deleted"] is True
    assert odf("pull", f"odf+{address}/alice/foo").code == 4

    process.send_signal(signal.SIGTERM)
    assert process.wait(STARTED_SECONDS) == 0


def test_a_port_that_is_taken(odf: Odf, node: tuple[str, subprocess.Popen[str]]) -> None:
    port = node[0].rsplit(":", 1)[1]
    ran = odf("serve", "--port", port)
    assert ran.code == 11
    assert "cannot listen" in ran.err


def test_settings_that_cannot_be_used(odf: Odf, monkeypatch: pytest.MonkeyPatch) -> None:
    assert odf("admin", "account", "list").code == 3
    monkeypatch.setenv("ODF_HTTP__PROT", "1")
    ran = odf("serve")
    assert ran.code == 3
    assert "Traceback" not in ran.err
