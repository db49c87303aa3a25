"""A whole node on real Postgres and S3, served by uvicorn on a loopback port in a thread of its own.

    with running_node(settings) as node:
        token = node.token_of("alice")
        node.get("/alice/foo/refs/head", token=token)

The fixtures `node_settings` and `running_node` are in tests/fixtures_node.py.
"""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import urllib3
import uvicorn
from fastapi import FastAPI

from app.accounts.service import create_token, ensure_account
from app.context import NodeContext
from app.main import create_app
from app.server import server_config
from app.settings import Settings
from app.wiring import OpenBucket, open_s3_bucket
from tests.services import S3Bucket

Result = TypeVar("Result")
STARTED_SECONDS = 30


def settings_for(database_url: str, bucket: S3Bucket, **groups: Any) -> Settings:
    """Settings of a node on these services; `groups` overrides, such as `transfer={"mode": "proxied"}`."""
    given: dict[str, Any] = {
        "database": {"url": database_url},
        "s3": {
            "endpoint": bucket.endpoint,
            "region": bucket.region,
            "bucket": bucket.bucket,
            "access_key_id": bucket.access_key_id,
            "secret_access_key": bucket.secret_access_key,
        },
        "http": {"port": 0},
        "log": {"level": "warning"},
    }
    for name, values in groups.items():
        both = isinstance(values, dict) and isinstance(given.get(name), dict)
        given[name] = {**given[name], **values} if both else values
    return Settings(**given)


@dataclass
class RunningNode:
    """A node that listens at `base_url`."""

    base_url: str
    settings: Settings
    app: FastAPI
    loop: asyncio.AbstractEventLoop
    server: uvicorn.Server
    _pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=False, maxsize=20))

    @property
    def context(self) -> NodeContext:
        node: NodeContext = self.app.state.node
        return node

    @property
    def netloc(self) -> str:
        return self.base_url.removeprefix("http://")

    def run(self, work: Callable[[NodeContext], Coroutine[Any, Any, Result]]) -> Result:
        """Run `work(context)` in the node's own loop, where its connections belong."""
        return asyncio.run_coroutine_threadsafe(work(self.context), self.loop).result(60)

    def token_of(self, account: str) -> str:
        """A new token of the account, which is made if it is not there."""

        async def work(context: NodeContext) -> str:
            await ensure_account(context.engine, account)
            return (await create_token(context.engine, account, "test")).text

        return self.run(work)

    def request(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> urllib3.BaseHTTPResponse:
        """The answer, read whole and not decoded; errors are answers too, redirects are not followed."""
        sent = dict(headers or {})
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        return self._pool.request(
            method, self.base_url + path, headers=sent, body=body, redirect=False, decode_content=False
        )

    def get(self, path: str, **options: Any) -> urllib3.BaseHTTPResponse:
        return self.request("GET", path, **options)

    def head(self, path: str, **options: Any) -> urllib3.BaseHTTPResponse:
        return self.request("HEAD", path, **options)

    def close(self) -> None:
        self._pool.clear()


@contextmanager
def running_node(settings: Settings, *, open_bucket: OpenBucket = open_s3_bucket) -> Iterator[RunningNode]:
    """Start the node, wait until it listens, stop it at the end. The schema has to be there."""
    listening = socket.create_server(("127.0.0.1", settings.http.port))
    app = create_app(settings, open_bucket=open_bucket)
    server = uvicorn.Server(server_config(app, settings))
    started = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []
    failures: list[BaseException] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        waiting = asyncio.create_task(_tell_when_started(server, started))
        try:
            await server.serve(sockets=[listening])
        finally:
            waiting.cancel()

    def work() -> None:
        try:
            with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
                runner.run(serve())
        except BaseException as error:  # the thread's end is the test's failure
            failures.append(error)
        finally:
            started.set()

    thread = threading.Thread(target=work, name="node", daemon=True)
    thread.start()
    started.wait(STARTED_SECONDS)
    if not server.started:
        listening.close()
        raise AssertionError(f"the node did not start: {failures}")
    host, port = listening.getsockname()
    node = RunningNode(f"http://{host}:{port}", settings, app, loops[0], server)
    try:
        yield node
    finally:
        node.close()
        server.should_exit = True
        thread.join(STARTED_SECONDS)
        listening.close()
    if failures:
        raise failures[0]


async def _tell_when_started(server: uvicorn.Server, started: threading.Event) -> None:
    while not server.started:
        await asyncio.sleep(0.005)
    started.set()
