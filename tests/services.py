"""Real Postgres and S3 for a test run: started once, shared by the workers, gone with the run.

The process that owns the run (the controller under pytest-xdist) starts the services when the first
test asks for them; workers get their addresses. Children die with that process by themselves
(app/embedded/launcher.py), the folder of a run that crashed is removed by the next one.

Another S3 server than rclone is tried by naming it, with a key that may make buckets:
`TEST_S3=http://KEY:SECRET@127.0.0.1:7070 make test ARGS=tests/storage`.
"""

import contextlib
import fcntl
import importlib
import importlib.util
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql

from app.embedded import EmbeddedServices

OTHER_S3 = "TEST_S3"
_PREFIX = "odf-tests-"
_TEMPLATE = "odf_template"
_MAX_CONNECTIONS = 300
_YOUNG_SECONDS = 60


@dataclass(frozen=True, slots=True)
class S3Server:
    """Address and key of the S3 server of this run; `root` is the folder of its buckets."""

    endpoint: str
    region: str
    access_key_id: str
    secret_access_key: str
    root: str

    def client(self) -> Any:
        """A boto3 client that works on this server and on AWS (stack.md 2.3)."""
        import boto3
        from botocore.config import Config

        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=self.region,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "max_attempts": 5},
                max_pool_connections=64,
            ),
        )


@dataclass(frozen=True, slots=True)
class S3Bucket(S3Server):
    """A bucket of one test's own."""

    bucket: str


@dataclass(frozen=True, slots=True)
class Addresses:
    """What a worker needs to know; plain values, so that they travel."""

    socket_dir: str
    s3: S3Server

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> "Addresses":
        return cls(values["socket_dir"], S3Server(**values["s3"]))

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://odf@/{database}?host={self.socket_dir}"

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(host=self.socket_dir, user="odf", dbname="postgres", autocommit=True)


class RunServices:
    """The services of this run, started at the first `addresses()`."""

    def __init__(self) -> None:
        self._services: EmbeddedServices | None = None
        self._folder: Path | None = None
        self._addresses: Addresses | None = None

    def addresses(self) -> Addresses:
        if self._addresses is None:
            _remove_stranded()
            self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._services = EmbeddedServices(self._folder, durable=False, max_connections=_MAX_CONNECTIONS)
            self._services.start()
            s3 = self._services.s3
            server = _named_server() or S3Server(
                s3.endpoint, s3.region, s3.access_key_id, s3.secret_access_key, str(s3.root)
            )
            socket_dir = self._services.database_url.partition("?host=")[2]
            self._addresses = Addresses(socket_dir, server)
            _make_template(self._addresses)
        return self._addresses

    def stop(self) -> None:
        if self._services is not None:
            self._services.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self.__init__()  # type: ignore[misc]


def _named_server() -> S3Server | None:
    """The S3 server that the caller wants instead; it has no folder of ours beneath."""
    named = os.environ.get(OTHER_S3)
    if not named:
        return None
    url = urlsplit(named)
    endpoint = f"{url.scheme}://{url.hostname}:{url.port}"
    return S3Server(endpoint, "us-east-1", unquote(url.username or ""), unquote(url.password or ""), "")


def _make_template(addresses: Addresses) -> None:
    """The database that every test's own is cloned from: all migrations run, nobody connected."""
    with addresses.connect() as connection:
        connection.execute(f"CREATE DATABASE {_TEMPLATE}")
        _upgrade(addresses.url(_TEMPLATE))
        connection.execute(f"ALTER DATABASE {_TEMPLATE} ALLOW_CONNECTIONS false")


def _upgrade(url: str) -> None:
    if importlib.util.find_spec("app.database") is not None:
        importlib.import_module("app.database").upgrade(url)


_counter = itertools.count(1)


@contextmanager
def fresh_database(addresses: Addresses) -> Iterator[str]:
    """URL of a database with the present tables and no rows; dropped afterwards."""
    name = f"test_{os.getpid()}_{next(_counter)}"
    clone = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
        sql.Identifier(name), sql.Identifier(_TEMPLATE)
    )
    with addresses.connect() as connection:
        connection.execute(clone)
    try:
        yield addresses.url(name)
    finally:
        with addresses.connect() as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )


def fresh_bucket(server: S3Server, client: Any) -> S3Bucket:
    """A new, empty bucket; its content goes with the run's folder."""
    name = f"test-{os.getpid()}-{next(_counter)}"
    client.create_bucket(Bucket=name)
    return S3Bucket(**asdict(server), bucket=name)


def _remove_stranded() -> None:
    """Remove folders of runs that were killed: those whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not folder.is_dir() or time.time() - folder.stat().st_mtime < _YOUNG_SECONDS:
            continue  # a young one was perhaps made by another run that is about to lock it
        with contextlib.suppress(OSError), (folder / "node.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
