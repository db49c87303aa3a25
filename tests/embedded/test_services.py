"""Embedded Postgres and S3: what they give, what they keep, what they refuse."""

import json
import socket
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from app.embedded import EmbeddedServices
from app.embedded.errors import (
    DatabaseVersionMismatch,
    DataDirectoryInUse,
    DataDirectoryUnusable,
    EmbeddedStateUnreadable,
    S3PortTaken,
)
from app.embedded.processes import command_line
from odf_core.errors import InternalError
from tests.embedded.tools import connect, node_process, processes_naming, s3_client


def embedded(data_dir: Path, **options: object) -> EmbeddedServices:
    return EmbeddedServices(data_dir, durable=False, **options)  # type: ignore[arg-type]


def test_both_services_work_and_keep_their_address_and_data(tmp_path: Path) -> None:
    with embedded(tmp_path / "data") as services:
        first = services.s3
        s3_client(services).put_object(Bucket=first.bucket, Key="k/ey", Body=b"kept")
        with connect(services.database_url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
        assert (first.root / first.bucket / "k" / "ey").read_bytes() == b"kept"
    with embedded(tmp_path / "data") as services:
        assert services.s3 == first
        got = s3_client(services).get_object(Bucket=first.bucket, Key="k/ey")
        assert got["Body"].read() == b"kept"
        engine = create_engine(services.database_url)
        with engine.connect() as connection:
            assert connection.execute(text("SELECT n FROM kept")).scalar_one() == 7
        engine.dispose()
    assert processes_naming(tmp_path / "data") == {}


def test_the_key_is_needed_and_is_nobody_elses(data_dir: Path) -> None:
    with embedded(data_dir) as services:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{services.s3.endpoint}/{services.s3.bucket}/")
        assert refused.value.code in (400, 403)
        refused.value.close()
        secret = services.s3.secret_access_key
        for pid in services.pids().values():
            assert secret not in " ".join(command_line(pid) or ())
        assert secret not in repr(services.s3)
    state = data_dir / "services.json"
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert json.loads(state.read_text())["secret_access_key"] == secret


def test_what_the_caller_has_in_its_environment_does_not_reach_the_servers(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RCLONE_READ_ONLY", "true")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("LC_ALL", "xx_YY.broken")
    with embedded(data_dir) as services:
        s3_client(services).put_object(Bucket=services.s3.bucket, Key="k", Body=b"")


def test_a_chosen_port_is_used_and_remembered(data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with embedded(data_dir, s3_port=port) as services:
        assert services.s3.endpoint == f"http://127.0.0.1:{port}"
    with embedded(data_dir) as services:
        assert services.s3.endpoint == f"http://127.0.0.1:{port}"


def test_one_node_at_a_time_owns_a_directory(data_dir: Path) -> None:
    with embedded(data_dir) as services:
        with pytest.raises(DataDirectoryInUse, match=str(data_dir)):
            embedded(data_dir).start()
        with node_process(data_dir) as other:
            assert other.facts["error"] == "embedded_data_directory_in_use"
        assert services.is_healthy()


def test_a_port_that_another_program_holds(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(S3PortTaken) as refused:
        embedded(data_dir, s3_port=taken.getsockname()[1]).start()
    assert refused.value.objects == (f"127.0.0.1:{refused.value.extras['port']}",)
    with embedded(data_dir) as services:  # nothing was left behind by the refusal
        assert services.is_healthy()


def test_a_cluster_of_another_major_version(tmp_path: Path) -> None:
    cluster = tmp_path / "postgres"
    cluster.mkdir(mode=0o700)
    (cluster / "PG_VERSION").write_text("16\n")
    with pytest.raises(DatabaseVersionMismatch) as refused:
        embedded(tmp_path).start()
    assert refused.value.extras == {"found": "16", "expected": 18}
    assert processes_naming(tmp_path) == {}


def test_a_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(DataDirectoryUnusable) as refused:
            embedded(path).start()
        assert str(path) in refused.value.message


def test_a_foreign_folder_where_the_cluster_should_be(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "letter.txt").write_text("mine")
    with pytest.raises(DataDirectoryUnusable):
        embedded(tmp_path).start()
    assert (tmp_path / "postgres" / "letter.txt").read_text() == "mine"


@pytest.mark.parametrize("content", ["", "{", '{"s3_port": 70000}', '{"access_key_id": "a,b"}', "[]"])
def test_a_damaged_state_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "services.json").write_text(content)
    with pytest.raises(EmbeddedStateUnreadable, match=r"services\.json"):
        embedded(tmp_path).start()


@pytest.mark.parametrize("name", ["d" * 120, "with a space", "comma,and%percent", "ünïcode"])
def test_a_path_that_no_socket_could_have(data_dir: Path, name: str) -> None:
    elsewhere = data_dir.rename(data_dir.with_name(name))
    with embedded(elsewhere) as services:
        socket_dir = Path(services.database_url.partition("?host=")[2])
        assert elsewhere not in socket_dir.parents
        assert stat.S_IMODE(socket_dir.stat().st_mode) == 0o700
        with connect(services.database_url) as connection:
            connection.execute("SELECT 1")
        s3_client(services).put_object(Bucket=services.s3.bucket, Key="k", Body=b"")
    assert not socket_dir.exists()


def test_use_before_start_and_a_second_start(data_dir: Path) -> None:
    services = embedded(data_dir)
    assert not services.is_healthy()
    services.stop()
    with pytest.raises(InternalError, match="start"):
        _ = services.database_url
    with services, pytest.raises(InternalError, match="already"):
        services.start()
    with services:  # the same object may live twice
        assert services.is_healthy()
