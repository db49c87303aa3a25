"""A node in memory that speaks the Smart protocol on a real socket, and can be told to misbehave.

It is made of the sessions of `odf_core.transfer`, so it cannot show that these are right (the
scenarios against the running node do); it shows what the client does when things go wrong.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import TracebackType

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection, serve

from odf_core.chain import InvalidInterval, walk_interval
from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import StoredBlock, read_block
from odf_core.transfer import (
    DEPLOYED,
    PUBLISHED,
    SUBPROTOCOL,
    BlocksBatch,
    CloseFrame,
    MetadataRequest,
    ObjectsRequest,
    Progress,
    PullRequest,
    PullStrategy,
    PushComplete,
    PushRequest,
    PushStrategy,
    ServerPullSession,
    ServerPushSession,
    TransferPlan,
    TransferUrl,
    read_batch,
    write_archive,
)
from odf_core.transfer.errors import HeadMoved
from tests.builders.chain_builder import ChainBuilder
from tests.client.fake_node import FakePeer, Reply, Seen


class Drop(Exception):
    """Raised in a hook: end the connection without a Close."""


@dataclass
class SmartNode:
    """One dataset at `url`. `hook(point, times)` is called at each named point, for the `times`-th time."""

    chain: ChainBuilder | None = None
    hook: Callable[[str, int], None] = lambda point, times: None
    most_blocks: int | None = None
    url_life: timedelta | None = None
    token: str | None = None

    blocks: dict[Multihash, StoredBlock] = field(default_factory=dict)
    objects: dict[ObjectRef, bytes] = field(default_factory=dict)
    head: Multihash | None = None
    points: Counter[str] = field(default_factory=Counter)
    requests: list[object] = field(default_factory=list)
    closes: list[tuple[int | None, str | None]] = field(default_factory=list)
    generation: int = 0

    def __post_init__(self) -> None:
        if self.chain is not None:
            self.load(self.chain)

    def load(self, chain: ChainBuilder) -> None:
        self.blocks.update(chain.by_hash())
        self.objects.update(chain.objects)
        self.head = chain.head

    def __enter__(self) -> "SmartNode":
        self.storage = FakePeer()
        self._server = serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._request,
            process_response=self._response,
            compression=None,
            ping_interval=None,
            max_size=None,
            close_timeout=1,
        )
        self.origin = f"http://127.0.0.1:{self._server.socket.getsockname()[1]}/"
        self.url = self.origin + "alice/foo/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self.storage.__exit__(None, None, None)

    def stop(self) -> None:
        """End all sessions; what they came to is then in `closes`."""
        self._server.shutdown()
        self._thread.join(10)

    def at(self, point: str) -> None:
        self.points[point] += 1
        self.hook(point, self.points[point])

    # HTTP

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        class Loose(ServerProtocol):
            def process_subprotocol(self, headers: Headers) -> None:
                return None

        connection.protocol.__class__ = Loose
        if request.path.endswith(("/pull", "/push")):
            return None
        return self._get(request)

    def _get(self, request: Request) -> Response:
        body, status = b"", 404
        if request.path == "/alice/foo/refs/head":
            self.at("refs/head")
            if self.head is not None:
                body, status = str(self.head).encode(), 200
        elif request.path.startswith("/alice/foo/blocks/"):
            block = self.blocks.get(Multihash.parse(request.path.rsplit("/", 1)[1]))
            if block is not None:
                body, status = block.data, 200
        return Response(status, "X", Headers({"Content-Length": str(len(body)), "Connection": "close"}), body)

    def _response(self, connection: ServerConnection, request: Request, response: Response) -> None:
        if request.headers.get("Sec-WebSocket-Protocol") == SUBPROTOCOL:
            response.headers["Sec-WebSocket-Protocol"] = SUBPROTOCOL

    # Sessions

    def _serve(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        published = connection.request.headers.get("Sec-WebSocket-Protocol") is not None
        dialect = PUBLISHED if published else DEPLOYED
        try:
            if connection.request.path.endswith("/pull"):
                self._pull(connection, ServerPullSession(dialect, Limits()))
            else:
                self._push(connection, ServerPushSession(dialect, Limits()))
        except Drop:
            connection.socket.shutdown(2)
            connection.socket.close()
        except ConnectionClosed:
            self.closes.append((connection.close_code, connection.close_reason))

    def _send(self, connection: ServerConnection, outgoing: object) -> None:
        if isinstance(outgoing, CloseFrame):
            connection.close(outgoing.code, outgoing.reason)
        else:
            connection.send(outgoing.to_text())  # type: ignore[attr-defined]

    def _fail(self, connection: ServerConnection, session, error: OdfError) -> None:  # type: ignore[no-untyped-def]
        for outgoing in session.fail(error):
            self._send(connection, outgoing)

    def _url(self, ref: ObjectRef, script: Callable[[Seen], Reply]) -> TransferUrl:
        self.generation += 1
        path = f"{ref.hash}-{self.generation}"
        self.storage.on(path, script)
        expires = datetime.now(UTC) + self.url_life if self.url_life is not None else None
        return TransferUrl(self.storage.url + path + "?X-Amz-Signature=secret", (("x-test", "1"),), expires)

    def interval(self, request: PullRequest) -> list[StoredBlock]:
        read = self.blocks.__getitem__
        try:
            blocks = walk_interval(read, self.head, request.begin_after)
        except InvalidInterval:
            if not request.force:
                raise
            blocks = walk_interval(read, self.head, None)
        return blocks[: self.most_blocks]

    def _pull(self, connection: ServerConnection, session: ServerPullSession) -> None:
        blocks: list[StoredBlock] = []
        while True:
            event = session.receive_text(connection.recv())
            self.requests.append(event)
            if isinstance(event, PullRequest):
                self.at("pull request")
                try:
                    blocks = self.interval(event)
                except InvalidInterval as error:
                    self._fail(connection, session, error)
                    continue
                self._send(connection, session.send_plan(TransferPlan.of(blocks)))
            elif isinstance(event, MetadataRequest):
                self.at("pull metadata")
                archive = write_archive(
                    [(b.hash, b.data) for b in blocks], session.dialect.archive_media_type
                )
                batch = BlocksBatch(len(blocks), archive, session.dialect.archive_media_type)
                self._send(connection, session.send_blocks(batch))
            else:
                self.at("pull objects")
                self._send(connection, session.send_objects([self._download(ref) for ref in event.objects]))
                self.at("pull urls sent")

    def _download(self, ref: ObjectRef) -> PullStrategy:
        known = ObjectRef(ref.kind, ref.hash, next(r.size for r in self.objects if r.hash == ref.hash))

        def get(seen: Seen) -> Reply:
            return Reply(200, self.objects[known])

        return PullStrategy(ref, self._url(ref, self.download_script(ref, get)))

    def download_script(self, ref: ObjectRef, usual: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
        """For tests to override."""
        return usual

    def _push(self, connection: ServerConnection, session: ServerPushSession) -> None:
        blocks: list[StoredBlock] = []
        claimed: Multihash | None = None
        staged: dict[ObjectRef, bytes] = {}
        while True:
            event = session.receive_text(connection.recv())
            self.requests.append(event)
            if isinstance(event, PushRequest):
                self.at("push request")
                claimed = event.current_head
                if claimed != self.head:
                    self._fail(connection, session, HeadMoved(claimed, self.head))
                    continue
                self._send(connection, session.send_accepted())
            elif isinstance(event, BlocksBatch):
                blocks = [read_block(data, name) for name, data in read_batch(event, Limits())]
                self.at("push metadata")
                self._send(connection, session.send_metadata_accepted())
            elif isinstance(event, ObjectsRequest):
                self.at("push objects")
                strategies = [self._upload(ref, staged) for ref in event.objects]
                self._send(connection, session.send_objects(strategies))
                question = session.send_progress_request()
                if question is not None:
                    self._send(connection, question)
                self.at("push urls sent")
            elif isinstance(event, PushComplete):
                try:
                    self.at("push complete")
                    self._commit(blocks, claimed, staged)
                except OdfError as error:
                    self._fail(connection, session, error)
                    continue
                self.at("push committed")
                self._send(connection, session.send_confirmed())
            else:
                assert isinstance(event, Progress)

    def _upload(self, ref: ObjectRef, staged: dict[ObjectRef, bytes]) -> PushStrategy:
        if any(known.hash == ref.hash for known in [*self.objects, *staged]):
            return PushStrategy(ref, None)

        def put(seen: Seen) -> Reply:
            assert seen.method == "PUT"
            staged[ref] = seen.body
            return Reply(200)

        return PushStrategy(ref, self._url(ref, self.upload_script(ref, put)))

    def upload_script(self, ref: ObjectRef, usual: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
        """For tests to override."""
        return usual

    def _commit(
        self, blocks: list[StoredBlock], claimed: Multihash | None, staged: dict[ObjectRef, bytes]
    ) -> None:
        if self.head != claimed:
            raise HeadMoved(claimed, self.head)
        for ref, body in staged.items():
            assert Multihash.sha3_256(body) == ref.hash
            self.objects[ObjectRef(ref.kind, ref.hash, len(body))] = body
        self.blocks.update({block.hash: block for block in blocks})
        self.head = blocks[-1].hash
