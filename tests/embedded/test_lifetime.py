"""Children live and die with the node, and come back when they die alone."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.embedded import EmbeddedServices
from odf_core.storage.control import RcloneControl
from tests.embedded.tools import (
    NODE_PROCESS,
    REPOSITORY,
    connect,
    node_process,
    processes_naming,
    s3_client,
    wait_until,
)

TIES = ["exec", "pipe"] if sys.platform == "linux" else ["pipe"]
IS_ROOT = os.geteuid() == 0


@pytest.mark.parametrize("tie", TIES)
def test_a_killed_node_takes_its_children_with_it_and_loses_nothing(data_dir: Path, tie: str) -> None:
    with node_process(data_dir, tie) as node:
        with connect(node.facts["url"]) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS n")
        assert len(processes_naming(data_dir)) >= 2
        node.process.kill()
    wait_until(lambda: processes_naming(data_dir) == {}, "the children of the killed node end")
    with EmbeddedServices(data_dir) as services:
        assert services.s3.endpoint == node.facts["port"]
        with connect(services.database_url) as connection:
            assert connection.execute("SELECT n FROM kept").fetchall() == [(7,)]


def test_a_node_can_start_while_its_former_life_is_still_dying(data_dir: Path) -> None:
    for _ in range(2):
        with node_process(data_dir) as node:
            assert "error" not in node.facts
            node.process.kill()
            node.process.wait()
            with node_process(data_dir) as heir:
                assert "error" not in heir.facts
                assert heir.facts["port"] == node.facts["port"]
                heir.finish()


@pytest.mark.parametrize("tie", TIES)
def test_an_interrupt_stops_the_children_in_order(data_dir: Path, tie: str) -> None:
    with node_process(data_dir, tie) as node:
        node.process.send_signal(signal.SIGINT)
        assert node.finish() == "stopped\n"
    assert processes_naming(data_dir) == {}
    assert not (data_dir / "unclean").exists()
    assert "database system is shut down" in (data_dir / "logs" / "postgres.log").read_text()


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("name", ["postgres", "rclone"])
def test_a_child_that_dies_is_started_again_behind_the_same_address(
    data_dir: Path, tie: str, name: str
) -> None:
    with EmbeddedServices(data_dir, tie=tie) as services:  # type: ignore[arg-type]
        client, before = s3_client(services), services.pids()
        client.put_object(Bucket=services.s3.bucket, Key="k", Body=b"kept")
        os.kill(before[name], signal.SIGKILL)
        wait_until(lambda: services.restarts >= 1 and services.is_healthy(), f"{name} is back")
        after = services.pids()
        assert {key for key in before if before[key] != after[key]} == {name}
        assert client.get_object(Bucket=services.s3.bucket, Key="k")["Body"].read() == b"kept"
        with connect(services.database_url) as connection:
            connection.execute("SELECT 1")
    assert services.failure is None
    assert processes_naming(data_dir) == {}


def test_clients_that_try_again_outlast_a_kill_of_the_s3_server(data_dir: Path) -> None:
    """The port stays the node's own: what answers next is the same server again, never a stranger."""
    with EmbeddedServices(data_dir, durable=False) as services:
        client = s3_client(services)
        for round_ in range(3):
            os.kill(services.pids()["rclone"], signal.SIGKILL)
            port = int(services.s3.endpoint.rpartition(":")[2])
            with pytest.raises(OSError, match="in use"), socket.socket() as stranger:
                stranger.bind(("127.0.0.1", port))
            wait_until(lambda: services.restarts > round_ and services.is_healthy(), "rclone is back")  # noqa: B023
            client.put_object(Bucket=services.s3.bucket, Key=f"k{round_}", Body=b"x" * 1000)


def test_the_remote_control_survives_restarts(data_dir: Path) -> None:
    """What is written beneath the server is seen as soon as it has been told."""
    with EmbeddedServices(data_dir, durable=False) as services:
        client, s3 = s3_client(services), services.s3
        for round_ in range(2):
            assert "Contents" not in client.list_objects_v2(Bucket=s3.bucket, Prefix=f"k{round_}")
            (s3.root / s3.bucket / f"k{round_}").write_bytes(b"beneath")
            RcloneControl(s3.control).forget([f"{s3.bucket}/k{round_}"])
            assert client.get_object(Bucket=s3.bucket, Key=f"k{round_}")["Body"].read() == b"beneath"
            os.kill(services.pids()["rclone"], signal.SIGKILL)
            RcloneControl(s3.control).forget([f"{s3.bucket}/k{round_}"])  # waits for the next life
            wait_until(lambda: services.restarts > round_ and services.is_healthy(), "rclone is back")  # noqa: B023
    assert not s3.control.exists()


def test_leavings_of_cut_uploads_are_swept_after_a_crash_only(data_dir: Path) -> None:
    folder = data_dir / "s3" / "odf-node" / "deep"
    with node_process(data_dir) as node:
        node.process.kill()
    folder.mkdir()
    (folder / ".rclone_temp_put_1").write_bytes(b"half")
    (folder / "whole").write_bytes(b"whole")
    with EmbeddedServices(data_dir, durable=False):
        assert sorted(item.name for item in folder.iterdir()) == ["whole"]


def test_a_pid_file_that_names_a_stranger(data_dir: Path) -> None:
    """After a reboot, or in a container, the pid belongs to somebody else: PostgreSQL would give up."""
    with EmbeddedServices(data_dir, durable=False):
        lines = (data_dir / "postgres" / "postmaster.pid").read_text().splitlines()
    stranger = subprocess.Popen(["sleep", "1000"])
    try:
        (data_dir / "postgres" / "postmaster.pid").write_text(
            "\n".join([str(stranger.pid), *lines[1:]]) + "\n"
        )
        with EmbeddedServices(data_dir, durable=False) as services:
            assert services.is_healthy()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_servers_that_outlived_their_node_are_ended_first(data_dir: Path) -> None:
    with node_process(data_dir, "pipe") as node:
        os.kill(node.process.pid, signal.SIGSTOP)  # so that it cannot start them again
        stranded = [
            pid for pid, command in processes_naming(data_dir).items() if "bin/postgres -D" in command
        ]
        os.kill(node.facts["pids"]["postgres"], signal.SIGKILL)  # its watcher, not the server
        node.process.kill()
    assert any(command for command in processes_naming(data_dir).values() if "postgres" in command), stranded
    with EmbeddedServices(data_dir, durable=False) as services:
        wait_until(lambda: not set(stranded) & set(processes_naming(data_dir)), "the stranded server ends")
        with connect(services.database_url) as connection:
            connection.execute("SELECT 1")


@pytest.mark.skipif(not IS_ROOT, reason="the whole suite runs as a plain user then")
def test_a_plain_user_can_run_it() -> None:
    folder = Path(tempfile.mkdtemp())
    os.chown(folder, 65534, 65534)
    try:
        subprocess.run([sys.executable, "-c", f"open({str(NODE_PROCESS)!r})"], user=65534, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this Python or this checkout lies where other users have no way in")
    with node_process(folder / "data", user=65534, group=65534, extra_groups=[]) as node:
        assert "error" not in node.facts, node.facts
        assert node.finish() == "stopped\n"
    subprocess.run(["rm", "-r", str(folder)], check=True)


@pytest.mark.skipif(not IS_ROOT, reason="about root")
def test_root_without_user_namespaces_gets_a_sentence(data_dir: Path) -> None:
    script = f'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@" {NODE_PROCESS} {data_dir} exec'
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", sys.executable]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, input="")
    if "unshare" in done.stderr or not done.stdout:
        pytest.skip(f"this machine cannot show it: {done.stderr[-200:]}")
    assert "embedded_root_refused" in done.stdout
    assert processes_naming(data_dir) == {}
