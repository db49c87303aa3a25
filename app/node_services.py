"""Postgres and S3 of a node, whoever runs them: settings in, settings with addresses out.

`running_services` starts the embedded ones and ends them; `reachable_services` is for commands beside a
node, and uses what that node runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from app.settings import S3Settings, Settings
from app.wiring import Bucket, OpenBucket, open_s3_bucket, s3_config
from odf_core.errors import OdfError

if TYPE_CHECKING:
    from app.embedded import EmbeddedS3


@dataclass(frozen=True, slots=True)
class NodeServices:
    """Settings with the addresses of the services, and how to open the bucket that they name."""

    settings: Settings
    open_bucket: OpenBucket = open_s3_bucket


@contextmanager
def running_services(
    settings: Settings, on_failure: Callable[[OdfError], None] | None = None
) -> Iterator[NodeServices]:
    """The services of a node; embedded ones run while the block does.

    To be entered in the main thread: the children end with the thread that started them (stack.md 3.1).
    `on_failure` is called from another thread when a service is given up. Raises the leaves of
    `app.embedded.errors`.
    """
    if not settings.embedded.enabled:
        yield NodeServices(settings)
        return
    from app.embedded import EmbeddedServices

    with EmbeddedServices(settings.embedded.data_dir, on_failure=on_failure) as services:
        yield _embedded(settings, services.database_url, services.s3)


@contextmanager
def reachable_services(settings: Settings) -> Iterator[NodeServices]:
    """As `running_services`, but where a node holds the data directory, its services are used."""
    from app.embedded.errors import DataDirectoryInUse

    running = running_services(settings)
    try:
        ready = running.__enter__()
    except DataDirectoryInUse:
        yield _of_running_node(settings)
        return
    try:
        yield ready
    finally:
        running.__exit__(None, None, None)


def _beneath(root: Path, control: Path) -> OpenBucket:
    """The way to the bucket of an S3 server whose files lie below `root` on this machine.

    The node goes to the files themselves, clients through the server (docs/adr/0003).
    """

    def open_bucket(settings: S3Settings) -> Bucket:
        from odf_core.storage.control import RcloneControl
        from odf_core.storage.embedded import EmbeddedS3Store
        from odf_core.storage.s3 import S3Store  # boto3 takes a third of a second to import

        return EmbeddedS3Store(root, settings.bucket, S3Store(s3_config(settings)), RcloneControl(control))

    return open_bucket


def _of_running_node(settings: Settings) -> NodeServices:
    """What the node runs that holds the data directory, as its state file tells."""
    from app.embedded import EmbeddedS3
    from app.embedded.directory import DataDirectory
    from app.embedded.postgres import DATABASE, SUPERUSER
    from app.embedded.s3 import CONTROL_SOCKET
    from app.embedded.services import BUCKET
    from app.embedded.state import load_state

    directory = DataDirectory(settings.embedded.data_dir)
    state = load_state(directory.state_file)
    socket_dir = Path(state.socket_dir or directory.path)
    s3 = EmbeddedS3(
        endpoint=f"http://127.0.0.1:{state.s3_port}",
        region="us-east-1",
        access_key_id=state.access_key_id,
        secret_access_key=state.secret_access_key,
        bucket=BUCKET,
        root=directory.s3,
        control=socket_dir / CONTROL_SOCKET,
    )
    return _embedded(settings, f"postgresql+psycopg://{SUPERUSER}@/{DATABASE}?host={socket_dir}", s3)


def _embedded(settings: Settings, database_url: str, s3: "EmbeddedS3") -> NodeServices:
    """The settings pointed at embedded services, and their bucket with its files beneath."""
    database = settings.database.model_copy(update={"url": SecretStr(database_url)})
    pointed = settings.s3.model_copy(
        update={
            "endpoint": s3.endpoint,
            "region": s3.region,
            "bucket": s3.bucket,
            "access_key_id": s3.access_key_id,
            "secret_access_key": SecretStr(s3.secret_access_key),
            "session_token": None,
            "addressing_style": "path",
        }
    )

    def open_bucket(named: S3Settings) -> Bucket:
        from odf_core.storage.control import RcloneControl
        from odf_core.storage.embedded import EmbeddedS3Store
        from odf_core.storage.s3 import S3Store

        return EmbeddedS3Store(s3.root, s3.bucket, S3Store(s3_config(named)), RcloneControl(s3.control))

    return NodeServices(settings.model_copy(update={"database": database, "s3": pointed}), open_bucket)
