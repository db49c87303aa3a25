"""What every request and session of one node shares; made once, at `app.state.node`."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from app.settings import Settings
from odf_core.storage import ObjectStore
from odf_core.storage.presign import Presigner


@dataclass(frozen=True, slots=True)
class NodeContext:
    """Settings and the adapters made from them.

    `store` is a view of the bucket below `s3.prefix`; `presigner` signs for `s3.public_endpoint`.
    """

    settings: Settings
    engine: AsyncEngine
    store: ObjectStore
    presigner: Presigner
