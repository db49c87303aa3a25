"""The deployed dialect, message by message, as the wire page (section 3) has it.

`pull` and `push` behave as the deployed client does; a test that wants to misbehave takes the pieces.
"""

import gzip
import io
import tarfile
import threading
from dataclasses import dataclass
from http.client import HTTPException

from tests.scripted.block_peek import peek
from tests.scripted.folder import Folder, plan
from tests.scripted.http import download, request, upload
from tests.scripted.websocket import Closed, RawWebSocket

VERSION = {"x-odf-smtp-version": "1"}


class Refused(Exception):
    """The server's `Err`, or its Close, where a success was awaited."""

    def __init__(self, reply: object) -> None:
        super().__init__(str(reply))
        self.reply = reply


@dataclass
class Outcome:
    """What the deployed client reports: `updated` False means up to date."""

    updated: bool
    old_head: str | None
    new_head: str | None
    num_blocks: int = 0
    skipped: int = 0


@dataclass
class Remote:
    """A dataset's address on a node (`http://host:port/account/name`), and perhaps a token."""

    url: str
    token: str | None = None
    timeout: float = 60

    def headers(self) -> dict[str, str]:
        return VERSION | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def socket(self, verb: str) -> RawWebSocket:
        return RawWebSocket.connect(f"{self.url}/{verb}", self.headers(), timeout=self.timeout)

    def head(self) -> str | None:
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        status, _, body = request("GET", f"{self.url}/refs/head", bearer)
        if status == 404:
            return None
        if status != 200:
            raise Refused((status, body))
        return body.decode()


def ok(reply: dict) -> object:
    if "Ok" not in reply:
        raise Refused(reply)
    return reply["Ok"]


def pack(blocks: list[tuple[str, bytes]]) -> dict:
    """A MetadataBlocksBatch (wire page 3.3): gzip of a tar, oldest first, payload as numbers."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in blocks:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return {
        "num_blocks": len(blocks),
        "media_type": "application/tar+gzip",
        "encoding": "raw",
        "payload": list(gzip.compress(buffer.getvalue(), 6)),
    }


def unpack(batch: dict) -> list[tuple[str, bytes]]:
    assert batch["media_type"] == "application/tar+gzip"
    assert batch["encoding"] == "raw"
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(bytes(batch["payload"])))) as archive:
        return [(entry.name, archive.extractfile(entry).read()) for entry in archive.getmembers()]


def object_file(item: tuple[str, str, int]) -> dict:
    return {"object_type": item[0], "physical_hash": item[1], "size": item[2]}


def pull(remote: Remote, local: Folder, *, force: bool = False) -> Outcome:
    """A pull as the deployed client makes it, blocks and objects into `local`, head last."""
    if remote.head() is None:
        raise Refused("dataset not found")
    old = local.head()
    ws = remote.socket("pull")
    ws.send_json({"begin_after": old, "stop_at": None, "force_update_if_diverged": force})
    expected = ok(ws.expect())["transfer_plan"]
    if expected["num_blocks"] == 0:
        ws.send_close(1000, "Client pull flow succeeded")
        return Outcome(False, old, old)
    ws.send_json({})
    blocks = unpack(ws.expect()["blocks"])
    assert len(blocks) == expected["num_blocks"]
    missing = [
        item
        for _, data in blocks
        for item in peek(data).objects
        if not local.object_path(item[0], item[1]).exists()
    ]
    if missing:
        ws.send_json({"object_files": [object_file(item) for item in missing]})
        for strategy in ws.expect()["object_transfer_strategies"]:
            assert strategy["pull_strategy"] == "HttpDownload"
            reference = strategy["object_file"]
            local.put_object(
                reference["object_type"], reference["physical_hash"], download(strategy["download_from"])
            )
    for name, data in blocks:
        local.put_block(name, data)
    local.set_head(blocks[-1][0])
    ws.send_close(1000, "Client pull flow succeeded")
    return Outcome(True, old, blocks[-1][0], len(blocks))


def push(remote: Remote, local: Folder, *, force: bool = False, visibility: str = "Private") -> Outcome:
    """A push as the deployed client makes it: interval by its own reckoning, all objects offered."""
    old = remote.head()
    head = local.head()
    if old == head:
        return Outcome(False, old, old)
    on_chain = old is None or any(name == old for name, _, _ in local.chain())
    if not on_chain and not force:
        raise Refused("diverged")
    chain = local.chain(tail=old if on_chain else None)
    ws = remote.socket("push")
    offer(ws, chain, old, force=force, visibility=visibility)
    skipped = transfer(ws, chain, local)
    complete(ws)
    return Outcome(True, old, head, len(chain), skipped)


def offer(
    ws: RawWebSocket,
    chain: list,
    current_head: str | None,
    *,
    force: bool = False,
    visibility: str = "Private",
) -> None:
    """Messages 1 to 4 of a push."""
    ws.send_json(
        {
            "current_head": current_head,
            "transfer_plan": plan(chain),
            "force_update_if_diverged": force,
            "visibility_for_created_dataset": visibility,
        }
    )
    ok(ws.expect())
    ws.send_json({"new_blocks": pack([(name, data) for name, data, _ in chain])})
    ok(ws.expect())


def negotiate(
    ws: RawWebSocket, objects: list[tuple[str, str, int]], *, is_truncated: bool = False
) -> list[dict]:
    """Messages 5 and 6."""
    ws.send_json({"object_files": [object_file(item) for item in objects], "is_truncated": is_truncated})
    return ok(ws.expect())["object_transfer_strategies"]


def transfer(ws: RawWebSocket, chain: list, local: Folder) -> int:
    """Messages 5 to 9: every object of the interval, newest block first; returns how many were skipped."""
    objects = [item for _, _, facts in reversed(chain) for item in facts.objects]
    strategies = negotiate(ws, objects)
    uploads = [item for item in strategies if item["push_strategy"] == "HttpUpload"]
    statuses: list[int] = []
    failures: list[Exception] = []

    def put(strategy: dict) -> None:
        reference = strategy["object_file"]
        data = local.object_path(reference["object_type"], reference["physical_hash"]).read_bytes()
        try:
            statuses.append(upload(strategy["upload_to"], data))
        except (OSError, HTTPException) as broken:  # told below, from the thread that pushes
            failures.append(broken)

    threads = [threading.Thread(target=put, args=(item,)) for item in uploads]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(not 200 <= status < 300 for status in statuses) or len(statuses) != len(uploads):
        raise Refused(("upload", statuses, failures))
    ws.send_json({"details": "Complete"})
    return len(strategies) - len(uploads)


def complete(ws: RawWebSocket) -> None:
    """Messages 10 to 12. An `Err` in the last reply is a failure, though not to the deployed client."""
    ws.send_json({})
    try:
        reply = ws.receive_json()
    except Closed as closed:
        raise Refused(closed.message() if closed.code == 1011 else closed) from closed
    if reply != {}:
        raise Refused(reply)
    ws.send_close(1000, "Client push flow succeeded")
