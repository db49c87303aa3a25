"""From settings to the adapters: the one place where a node's store, signer and database are chosen."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import structlog
from anyio import to_thread

from app.context import NodeContext
from app.database import create_engine
from app.settings import S3Settings, Settings
from odf_core.errors import OdfError
from odf_core.storage import ObjectStore, PrefixStore, S3Config
from odf_core.storage.credentials import Credentials
from odf_core.storage.presign import Presigner
from odf_core.storage.probe import probe_presigned

_log = structlog.get_logger(__name__)


class Bucket(ObjectStore, Protocol):
    """A store whose objects clients can be sent to by signed URLs."""

    def credentials(self) -> Credentials: ...

    def close(self) -> None: ...


OpenBucket = Callable[[S3Settings], Bucket]
"""Makes the bucket of the settings; embedded mode has one of its own."""


def s3_config(settings: S3Settings) -> S3Config:
    """The settings as the library takes them."""
    secret, token = settings.secret_access_key, settings.session_token
    return S3Config(
        bucket=settings.bucket,
        endpoint=settings.endpoint,
        region=settings.region,
        access_key_id=settings.access_key_id,
        secret_access_key=None if secret is None else secret.get_secret_value(),
        session_token=None if token is None else token.get_secret_value(),
        addressing_style=settings.addressing_style,
        max_connections=settings.max_connections,
    )


def open_s3_bucket(settings: S3Settings) -> Bucket:
    """The bucket at whatever S3 server the settings name."""
    from odf_core.storage.s3 import S3Store  # boto3 takes a third of a second to import

    return S3Store(s3_config(settings))


@asynccontextmanager
async def open_node(
    settings: Settings, open_bucket: OpenBucket = open_s3_bucket
) -> AsyncIterator[NodeContext]:
    """A node's adapters for as long as the block lasts; also for commands that need no server.

    Raises `SettingsInvalid`. Neither Postgres nor S3 has to answer yet.
    """
    engine = create_engine(settings.database)
    try:
        bucket = await to_thread.run_sync(open_bucket, settings.s3)
        try:
            yield NodeContext(
                settings=settings,
                engine=engine,
                store=PrefixStore(bucket, settings.s3.prefix),
                presigner=make_presigner(settings.s3, bucket.credentials),
            )
        finally:
            bucket.close()
    finally:
        await engine.dispose()


def make_presigner(settings: S3Settings, credentials: Callable[[], Credentials]) -> Presigner:
    """Signs for the address that clients reach (promise 5)."""
    return Presigner(
        credentials,
        endpoint=settings.public_endpoint or settings.endpoint,
        region=settings.region,
        bucket=settings.bucket,
        addressing_style=settings.addressing_style,
        prefix=settings.prefix,
    )


async def report_presigned(node: NodeContext) -> None:
    """Try presigned URLs once and log what came of it; the node serves either way (peers.md 7)."""
    try:
        report = await to_thread.run_sync(probe_presigned, node.store, node.presigner, abandon_on_cancel=True)
    except OdfError as error:
        _log.warning("presigned urls not tried", code=error.code, message=error.message)
        return
    if report.ok:
        _log.info("presigned urls work", origin=report.origin)
    else:
        _log.warning("presigned urls do not work", origin=report.origin, reason=report.sentence)
