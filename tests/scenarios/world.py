"""A node with accounts and a bucket to look into: what the scenarios share.

world = node_world.person()            # a fresh account with a token
remote = world.remote("foo")           # its dataset, for either client
world.stored("foo")                    # what the bucket holds of it
"""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

from app.database import upgrade
from app.embedded import EmbeddedServices
from app.ops.logs import configure_logging
from app.settings import S3Settings
from app.wiring import open_s3_bucket, s3_config
from odf_core.identity import DatasetId
from odf_core.storage.control import RcloneControl
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.s3 import S3Store
from tests.builders.dataset_builder import DatasetBuilder
from tests.running_node import RunningNode, running_node, settings_for
from tests.scripted import deployed
from tests.scripted.deployed import Remote
from tests.scripted.folder import Folder
from tests.services import Addresses, S3Bucket, S3Server, fresh_bucket, fresh_database

SHORT = {"close_wait_seconds": 0.5, "progress_interval_seconds": 5}
DATASET_PLACES = ("blocks", "checkpoints", "data", "refs")
INDEX_QUERIES = (
    "SELECT dataset_id, name, visibility, kind FROM dataset ORDER BY 1",
    "SELECT d.dataset_id, r.name, r.block_hash, r.sequence_number FROM ref r JOIN dataset d"
    " ON d.id = r.dataset_pk ORDER BY 1, 2",
    "SELECT d.dataset_id, b.hash, b.sequence_number, b.is_current, b.data FROM block b JOIN dataset d"
    " ON d.id = b.dataset_pk ORDER BY 1, 2",
    "SELECT dataset_id, kind, hash, size FROM stored_object ORDER BY 1, 2, 3",
)
PATIENCE_SECONDS = 30
_numbers = itertools.count(1)


@dataclass
class NodeWorld:
    """A running node, its database and its bucket."""

    node: RunningNode
    database_url: str
    bucket: S3Bucket
    s3: Any
    services: EmbeddedServices | None = None
    """Its own, where it has such."""
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def is_multi_tenant(self) -> bool:
        return self.node.settings.tenancy == "multi"

    def token(self, account: str) -> str:
        if account not in self._tokens:
            self._tokens[account] = self.node.token_of(account)
        return self._tokens[account]

    def person(self, name: str | None = None) -> "Person":
        """A fresh account; on a single-tenant node the one that owns everything."""
        if name is None:
            own = self.node.settings.accounts.default_account
            name = f"person{next(_numbers)}" if self.is_multi_tenant else own
        return Person(self, name, self.token(name))

    def stranger(self) -> "Person":
        """Somebody with a token and no rights."""
        name = f"stranger{next(_numbers)}"
        return Person(self, name, self.token(name))

    def files(self, dataset_id: str) -> dict[str, bytes]:
        """The dataset's folder in the bucket, as far as both sides must have it alike; by its `fed01…`."""
        prefix = f"{dataset_id}/"
        return {
            key.removeprefix(prefix): (self.folder / key).read_bytes()
            for key in self.keys(prefix)
            if key.removeprefix(prefix).partition("/")[0] in DATASET_PLACES
        }

    @property
    def folder(self) -> Path:
        """The bucket on disk: what is really there, whatever the S3 server remembers of it (stack.md 2.4)."""
        return Path(self.bucket.root) / self.bucket.bucket

    def keys(self, prefix: str = "") -> list[str]:
        """All keys of the bucket below a prefix; what the server has half-written is hidden, and none."""
        found = (
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        )
        return sorted(key for key in found if key.startswith(prefix) and "/.rclone_temp_" not in key)

    def staged(self) -> list[str]:
        """What lies in staging, but for the file that keeps the folder."""
        return [key for key in self.keys("staging/") if not key.endswith("/.keep")]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the node's database, asked behind its back."""
        with psycopg.connect(self.database_url.replace("+psycopg", "")) as connection:
            return connection.execute(query).fetchall()

    def snapshot(self) -> dict[str, Any]:
        """Index and bucket, but for staging: what a refused push must leave as it was."""
        keys = [key for key in self.keys() if not key.startswith("staging/")]
        index = [self.rows(query) for query in INDEX_QUERIES]
        return {"index": index, "bucket": keys}

    def sessions(self) -> int:
        """Sessions that the node serves at this moment."""
        return int(self.node.app.state.transfer.sessions)

    def settle(self) -> None:
        """Wait until every session has ended and what it staged is swept."""
        wait_until(lambda: self.sessions() == 0, "sessions are still open")
        wait_until(lambda: not self.staged(), lambda: f"uploads are still staged: {self.staged()}")
        open_rows = "SELECT count(*) FROM push_session WHERE finished_at IS NULL"
        wait_until(lambda: self.rows(open_rows) == [(0,)], "push sessions are still open")


@dataclass(frozen=True)
class Person:
    """An account of a node, with the addresses of its datasets."""

    world: NodeWorld
    name: str
    token: str | None

    def anonymous(self) -> "Person":
        """The same addresses without a token."""
        return replace(self, token=None)

    def with_token_of(self, other: "Person") -> "Person":
        """The addresses of this account, asked for by somebody else."""
        return replace(self, token=other.token)

    def path(self, dataset: str) -> str:
        return f"/{self.name}/{dataset}" if self.world.is_multi_tenant else f"/{dataset}"

    def remote(self, dataset: str) -> Remote:
        """The dataset's address on the node."""
        return Remote(self.world.node.base_url + self.path(dataset), self.token)


def wait_until(
    holds: Callable[[], bool], otherwise: str | Callable[[], str], patience: float = PATIENCE_SECONDS
) -> None:
    """Return as soon as it holds; fails with the sentence where it never does."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, otherwise if isinstance(otherwise, str) else otherwise()
        time.sleep(0.02)


def folder_of(dataset: DatasetBuilder, path: Path) -> Folder:
    """The dataset on disk, as the scripted client keeps it."""
    return Folder(dataset.write(path))


def served(person: Person, dataset: DatasetBuilder, path: Path, at: str, **options: Any) -> None:
    """Put the dataset, or its newer blocks, on the node."""
    folder = dataset.write(path / f"served-{dataset.head}")
    outcome = deployed.push(person.remote(at), Folder(folder), **options)
    assert outcome.new_head == dataset.head


def assert_identical(person: Person, dataset_id: DatasetId, local: Path) -> None:
    """Blocks, checkpoints, data and refs are the same on both sides, byte for byte."""
    assert Folder(local).files() == person.world.files(dataset_id.multibase)


def on_chain(files: dict[str, bytes], path: Path) -> dict[str, bytes]:
    """Those of the files that the head reaches; old blocks of a replaced chain stay on either side."""
    for name, content in files.items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    places = {"DataSlice": "data", "Checkpoint": "checkpoints"}
    kept = {"refs/head"}
    for block_hash, _, facts in Folder(path).chain():
        kept.add(f"blocks/{block_hash}")
        kept.update(f"{places[kind]}/{object_hash}" for kind, object_hash, _ in facts.objects)
    return {name: content for name, content in files.items() if name in kept}


@contextmanager
def node_world(services: Addresses, s3_client: Any, **groups: Any) -> Iterator[NodeWorld]:
    """A node with a database and a bucket of its own; `groups` are settings, as for `settings_for`."""
    groups["transfer"] = {**SHORT, **groups.get("transfer", {})}
    bucket = fresh_bucket(services.s3, s3_client)
    with fresh_database(services) as database_url:
        settings = settings_for(database_url, bucket, **groups)
        configure_logging(settings.log)
        with running_node(settings) as node:
            yield NodeWorld(node, database_url, bucket, s3_client)


@contextmanager
def embedded_world(
    folder: Path, *, through_s3: bool = False, durable: bool = False, **groups: Any
) -> Iterator[NodeWorld]:
    """A node on services of its own below `folder`, with the bucket of `odf serve --embedded`.

    `through_s3` has the node go to its bucket through the S3 server, as to any other. Only what is
    `durable` has lost nothing that it acknowledged when Postgres is killed.
    """
    groups["transfer"] = {**SHORT, **groups.get("transfer", {})}
    with EmbeddedServices(folder, durable=durable) as services:
        upgrade(services.database_url)
        s3 = services.s3
        server = S3Server(s3.endpoint, s3.region, s3.access_key_id, s3.secret_access_key, str(s3.root))
        bucket = S3Bucket(**asdict(server), bucket=s3.bucket)
        settings = settings_for(services.database_url, bucket, **groups)
        configure_logging(settings.log)

        def open_beneath(named: S3Settings) -> EmbeddedS3Store:
            control = RcloneControl(s3.control)
            return EmbeddedS3Store(s3.root, s3.bucket, S3Store(s3_config(named)), control)

        client = server.client()
        try:
            with running_node(settings, open_bucket=open_s3_bucket if through_s3 else open_beneath) as node:
                yield NodeWorld(node, services.database_url, bucket, client, services)
        finally:
            client.close()
