"""From settings to the adapters: the one place where a node's store, signer and database are chosen."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread

from app.context import NodeContext
from app.database import create_engine
from app.settings import S3Settings, Settings
from odf_core.storage import ObjectStore, PrefixStore, S3Config, S3Store
from odf_core.storage.presign import Presigner

StoreFactory = Callable[[S3Settings], S3Store]
