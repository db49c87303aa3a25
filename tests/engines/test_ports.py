"""The fence around TCP ports, and to which ports an engine beside a cluster may connect."""

import socket
import subprocess
import sys

import pytest

from odf_core.engines.options import SparkOptions
from odf_core.engines.sandbox.landlock import restricts_ports
from odf_core.engines.spark.ports import remote_ports

_TRY = """
import socket, sys
from pathlib import Path
from odf_core.engines.sandbox.landlock import restrict_files
allowed, *asked = map(int, sys.argv[1:])
restrict_files([Path("/")], [], [], {allowed})
for port in asked:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
        print("open")
    except PermissionError:
        print("refused")
"""


@pytest.mark.skipif(not restricts_ports(), reason="the kernel's Landlock knows no ports")
def test_a_fenced_process_connects_to_the_ports_that_were_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [str(server.getsockname()[1]) for server in (one, other)]
        command = [sys.executable, "-c", _TRY, ports[0], *ports]
        found = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert found.stdout.split() == ["open", "refused"]


def _options(*conf: tuple[str, str]) -> SparkOptions:
    return SparkOptions(master="spark://one:7077,two:7078", conf=conf, exchange="s3a://bucket")


def test_an_engine_beside_a_cluster_reaches_its_spark_and_its_s3() -> None:
    key = ("spark.hadoop.fs.s3a.access.key", "k")
    ports = remote_ports(_options(key, ("spark.hadoop.fs.s3a.endpoint", "http://s3:9000")))
    assert ports is not None
    assert {7077, 7078, 9000, 40000} <= ports
    assert not {22, 53, 80, 443, 5432, 8080} & ports
    ports = remote_ports(_options(key, ("spark.blockManager.port", "7100")))
    assert ports is not None
    assert {443, 7100} <= ports
    assert 80 not in ports
    assert 80 in (remote_ports(_options()) or ())  # without a key, the machine's role is asked for


def test_where_ports_are_not_known_none_is_closed() -> None:
    assert remote_ports(_options(("spark.jars.packages", "a:b:1"))) is None
    assert remote_ports(_options(("spark.hadoop.fs.defaultFS", "hdfs://one"))) is None
