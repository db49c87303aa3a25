"""The node as an ASGI application: wires, and does nothing else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.websockets import WebSocket

from app import errors
from app.accounts import routes as accounts
from app.accounts.service import ensure_account
from app.datasets import info_routes
from app.datasets import routes as datasets
from app.datasets.addressing import dataset_prefix_of
from app.ingest import creation_routes, metadata_routes, upload_routes
from app.ingest import routes as ingest
from app.jobs import routes as jobs
from app.mirrors import routes as mirrors
from app.openapi import describe
from app.ops import health
from app.ops.requests import HEADER as REQUEST_ID_HEADER
from app.ops.requests import RequestMiddleware
from app.query import dataset_routes
from app.query import routes as query
from app.settings import Settings
from app.transfer import routes as transfer
from app.transfer.runtime import TransferRuntime
from app.transfer.upkeep import run_upkeep
from app.transform import routes as transform
from app.verification import routes as verification
from app.wiring import OpenBucket, open_node, open_s3_bucket, report_presigned


def create_app(settings: Settings, *, open_bucket: OpenBucket = open_s3_bucket) -> FastAPI:
    """The application of one node; `app.state.node` is there while it runs.

    The schema has to be up to date before (`app.database.upgrade`). `open_bucket` lets embedded mode
    go to its bucket in its own way.
    """
    app = FastAPI(
        title="odf-node",
        version="0.1.0",
        lifespan=partial(_lifespan, settings=settings, open_bucket=open_bucket),
        redirect_slashes=False,  # no route has a final slash, and nothing is redirected (wire.md 1.1)
        docs_url=None,
        redoc_url=None,
    )
    app.state.transfer = TransferRuntime.of(settings.transfer)
    errors.install(app)
    _add_middleware(app)
    # Fixed first segments win over the names of accounts and datasets.
    for router in (
        health.router,
        accounts.router,
        jobs.router,
        info_routes.router,
        creation_routes.router,
        upload_routes.router,
        mirrors.router,
        query.router,
    ):
        app.include_router(router)
    for router in (
        datasets.router,
        ingest.router,
        metadata_routes.router,
        dataset_routes.router,
        transform.router,
        verification.router,
        transfer.router,
    ):
        app.include_router(router, prefix=dataset_prefix_of(settings))
    app.add_api_websocket_route("/{path:path}", _no_such_socket)
    describe(app)
    return app


def _add_middleware(app: FastAPI) -> None:
    app.add_middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["etag", "content-range", "accept-ranges", REQUEST_ID_HEADER],
    )
    app.add_middleware(RequestMiddleware)  # the last one added is the outermost


async def _no_such_socket(socket: WebSocket) -> None:
    # Without this an unknown path is denied with 403, which a deployed client reads as "Unauthorized".
    raise errors.PathNotFound("Not Found")


@asynccontextmanager
async def _lifespan(app: FastAPI, *, settings: Settings, open_bucket: OpenBucket) -> AsyncIterator[None]:
    async with open_node(settings, open_bucket) as node:
        app.state.node = node
        if settings.tenancy == "single":
            await ensure_account(node.engine, settings.accounts.default_account)
        tasks = [asyncio.create_task(run_upkeep(node), name="upkeep")]
        if settings.transfer.mode == "presigned":
            tasks.append(asyncio.create_task(report_presigned(node), name="presigned-probe"))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            app.state.transfer.close()
