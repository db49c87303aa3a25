"""Both dialects message by message, for clients that misbehave: one set of verbs, two encodings.

Built on the scripted client alone. What the node tells instead of an answer becomes a `WireRefusal`
with its channel: that a refusal comes, and where, is what the tests of bad input are about.
"""

import base64
import gzip
import io
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.scripted import deployed, published
from tests.scripted.block_peek import Peek
from tests.scripted.deployed import Remote
from tests.scripted.folder import Folder, plan
from tests.scripted.http import upload
from tests.scripted.websocket import Closed, RawWebSocket

Chain = Sequence[tuple[str, bytes, Peek]]
Item = tuple[str, str, int]
"""Object type, hash and size."""


@dataclass(frozen=True)
class Told:
    """A refusal as it stood on the wire; `phase` is of the deployed dialect's `Internal`."""

    channel: str
    code: str
    phase: str | None
    message: str
    body: dict[str, Any]


class WireRefusal(Exception):
    """The node refused; `told` says how."""

    def __init__(self, told: Told) -> None:
        super().__init__(str(told))
        self.told = told


@dataclass(frozen=True)
class Strategy:
    """What the node wants done with an object; `url` is None where it has the object."""

    item: Item
    url: dict[str, Any] | None

    @property
    def address(self) -> dict[str, Any]:
        """The TransferUrl of what has to move."""
        assert self.url is not None
        return self.url


def tar_of(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """A tar as any client would make it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def objects_of(chain: Chain) -> list[Item]:
    """Every object of the blocks, newest block first, as the deployed client lists them."""
    return [item for _, _, facts in reversed(chain) for item in facts.objects]


class Speaker(Protocol):
    """One dialect; `phase_of` names the phase that a refusal is told under, None where there is none."""

    name: str
    has_progress: bool

    def connect(self, remote: Remote, verb: str) -> RawWebSocket: ...

    def send_offer(
        self,
        ws: RawWebSocket,
        dataset_id: str,
        chain: Chain,
        current_head: str | None,
        *,
        num_blocks: int | None = None,
        force: bool = False,
    ) -> None: ...

    def send_blocks(self, ws: RawWebSocket, archive: bytes, num_blocks: int) -> None:
        """Sends the archive, a gzipped tar, as the message of blocks."""

    def send_negotiation(self, ws: RawWebSocket, items: Sequence[Item]) -> None: ...

    def read_strategies(self, ws: RawWebSocket) -> list[Strategy]: ...

    def send_uploaded(self, ws: RawWebSocket) -> None: ...

    def send_pull(
        self, ws: RawWebSocket, dataset_id: str, begin_after: str | None, stop_at: str | None = None
    ) -> None: ...

    def read_plan(self, ws: RawWebSocket) -> int: ...

    def read_blocks(self, ws: RawWebSocket) -> list[tuple[str, bytes]]: ...

    def send_pull_objects(self, ws: RawWebSocket, items: Sequence[Item]) -> None: ...

    def read_downloads(self, ws: RawWebSocket) -> list[Strategy]: ...

    def read(self, ws: RawWebSocket) -> dict[str, Any]:
        """The next message; raises `WireRefusal`."""


class DeployedSpeaker:
    """Texts with `Err`, or a Close 1011 whose reason is the awaited message."""

    name = "deployed"
    has_progress = True

    def connect(self, remote: Remote, verb: str) -> RawWebSocket:
        return remote.socket(verb)

    def send_offer(
        self,
        ws: RawWebSocket,
        dataset_id: str,
        chain: Chain,
        current_head: str | None,
        *,
        num_blocks: int | None = None,
        force: bool = False,
    ) -> None:
        numbers = plan(list(chain))
        if num_blocks is not None:
            numbers["num_blocks"] = num_blocks
        ws.send_json(
            {
                "current_head": current_head,
                "transfer_plan": numbers,
                "force_update_if_diverged": force,
                "visibility_for_created_dataset": "Private",
            }
        )

    def send_blocks(self, ws: RawWebSocket, archive: bytes, num_blocks: int) -> None:
        batch = {
            "num_blocks": num_blocks,
            "media_type": "application/tar+gzip",
            "encoding": "raw",
            "payload": list(archive),
        }
        ws.send_json({"new_blocks": batch})

    def send_negotiation(self, ws: RawWebSocket, items: Sequence[Item]) -> None:
        files = [deployed.object_file(item) for item in items]
        ws.send_json({"object_files": files, "is_truncated": False})

    def read_strategies(self, ws: RawWebSocket) -> list[Strategy]:
        listed = self.read(ws)["Ok"]["object_transfer_strategies"]
        for item in listed:
            assert (item["push_strategy"] == "SkipUpload") == (item["upload_to"] is None)
        return [Strategy(_deployed_item(item["object_file"]), item["upload_to"]) for item in listed]

    def send_uploaded(self, ws: RawWebSocket) -> None:
        ws.send_json({"details": "Complete"})

    def send_pull(
        self, ws: RawWebSocket, dataset_id: str, begin_after: str | None, stop_at: str | None = None
    ) -> None:
        ws.send_json({"begin_after": begin_after, "stop_at": stop_at, "force_update_if_diverged": False})

    def read_plan(self, ws: RawWebSocket) -> int:
        return int(self.read(ws)["Ok"]["transfer_plan"]["num_blocks"])

    def read_blocks(self, ws: RawWebSocket) -> list[tuple[str, bytes]]:
        batch = self.read(ws)["blocks"]
        blocks: list[tuple[str, bytes]] = deployed.unpack(batch)
        assert len(blocks) == batch["num_blocks"]
        return blocks

    def send_pull_objects(self, ws: RawWebSocket, items: Sequence[Item]) -> None:
        ws.send_json({"object_files": [deployed.object_file(item) for item in items]})

    def read_downloads(self, ws: RawWebSocket) -> list[Strategy]:
        listed = self.read(ws)["object_transfer_strategies"]
        assert {item["pull_strategy"] for item in listed} <= {"HttpDownload"}
        return [Strategy(_deployed_item(item["object_file"]), item["download_from"]) for item in listed]

    def read(self, ws: RawWebSocket) -> dict[str, Any]:
        channel = "text"
        try:
            message: dict[str, Any] = ws.receive_json()
        except Closed as closed:
            if closed.code != 1011 or not closed.reason:
                raise
            assert len(closed.reason.encode()) <= 123
            channel, message = "close", closed.message()
        if "Err" not in message:
            assert channel == "text", message
            return message
        variant, body = next(iter(message["Err"].items()))
        if variant != "Internal":
            raise WireRefusal(Told(channel, variant, None, "", body))
        phase = next(iter(body["phase"].values())) if "phase" in body else None
        code, _, rest = body["error_message"].partition(": ")
        raise WireRefusal(Told(channel, code, phase, rest, body))


class PublishedSpeaker:
    """A DatasetError as text at any position, then a Close 1011."""

    name = "published"
    has_progress = False

    def connect(self, remote: Remote, verb: str) -> RawWebSocket:
        ws: RawWebSocket = published.connect(remote, verb)
        return ws

    def send_offer(
        self,
        ws: RawWebSocket,
        dataset_id: str,
        chain: Chain,
        current_head: str | None,
        *,
        num_blocks: int | None = None,
        force: bool = False,
    ) -> None:
        assert not force, "the published dialect has no force"
        numbers = published.size_estimation(list(chain))
        if num_blocks is not None:
            numbers["numBlocks"] = num_blocks
        head = {} if current_head is None else {"currentHead": current_head}
        ws.send_json({"datasetId": dataset_id, "sizeEstimation": numbers, **head})

    def send_blocks(self, ws: RawWebSocket, archive: bytes, num_blocks: int) -> None:
        batch = {
            "objectsCount": num_blocks,
            "objectType": "MetadataBlock",
            "mediaType": "application/tar+gzip",
            "encoding": "base64",
            "payload": base64.b64encode(archive).decode(),
        }
        ws.send_json({"newBlocks": batch})

    def send_negotiation(self, ws: RawWebSocket, items: Sequence[Item]) -> None:
        ws.send_json({"objectFiles": [published.object_file(item) for item in items]})

    def read_strategies(self, ws: RawWebSocket) -> list[Strategy]:
        listed = self.read(ws)["objectTransferStrategies"]
        for item in listed:
            assert (item["pushStrategy"] == "SkipUpload") == ("uploadTo" not in item)
        return [Strategy(_published_item(item["objectFile"]), item.get("uploadTo")) for item in listed]

    def send_uploaded(self, ws: RawWebSocket) -> None:
        pass

    def send_pull(
        self, ws: RawWebSocket, dataset_id: str, begin_after: str | None, stop_at: str | None = None
    ) -> None:
        wishes = {"beginAfter": begin_after, "stopAt": stop_at}
        ws.send_json({"datasetId": dataset_id, **{k: v for k, v in wishes.items() if v is not None}})

    def read_plan(self, ws: RawWebSocket) -> int:
        return int(self.read(ws)["sizeEstimation"]["numBlocks"])

    def read_blocks(self, ws: RawWebSocket) -> list[tuple[str, bytes]]:
        blocks: list[tuple[str, bytes]] = published.unbatch(self.read(ws)["blocks"])
        return blocks

    def send_pull_objects(self, ws: RawWebSocket, items: Sequence[Item]) -> None:
        self.send_negotiation(ws, items)

    def read_downloads(self, ws: RawWebSocket) -> list[Strategy]:
        listed = self.read(ws)["objectTransferStrategies"]
        assert {item["pullStrategy"] for item in listed} <= {"HttpDownload"}
        return [Strategy(_published_item(item["objectFile"]), item["downloadFrom"]) for item in listed]

    def read(self, ws: RawWebSocket) -> dict[str, Any]:
        message: dict[str, Any] = ws.receive_json()
        if "errorDetails" not in message:
            return message
        details = message["errorDetails"]
        assert isinstance(details["description"], str)
        self._expect_close(ws, details["errorCode"])
        raise WireRefusal(Told("text", details["errorCode"], None, details["description"], details))

    @staticmethod
    def _expect_close(ws: RawWebSocket, code: str) -> None:
        """What the DatasetError said, in short, for a client that looks at the close only."""
        try:
            more = ws.receive()
        except Closed as closed:
            assert closed.code == 1011
            assert closed.message()["errorDetails"]["errorCode"] == code
        else:
            raise AssertionError(f"the node went on after a DatasetError: {more!r}")


SPEAKERS: tuple[Speaker, ...] = (DeployedSpeaker(), PublishedSpeaker())


def _deployed_item(reference: dict[str, Any]) -> Item:
    return reference["object_type"], reference["physical_hash"], reference["size"]


def _published_item(reference: dict[str, Any]) -> Item:
    return reference["objectType"], reference["physicalHash"], 0


@dataclass
class Push:
    """One push by its steps, any of which can be replaced by something worse."""

    speaker: Speaker
    remote: Remote
    dataset_id: str
    local: Folder
    force: bool = False
    ws: RawWebSocket = None  # type: ignore[assignment]
    chain: Chain = ()
    head: str | None = None

    def connect(self) -> "Push":
        """Handshake, and the interval that the node lacks (the whole chain by force)."""
        self.head = self.remote.head()
        self.chain = self.local.chain(tail=None if self.force else self.head)
        self.ws = self.speaker.connect(self.remote, "push")
        return self

    def offer(self, **changes: Any) -> "Push":
        """Messages 1 and 2."""
        options = {"force": True} if self.force else {}
        self.speaker.send_offer(self.ws, self.dataset_id, self.chain, self.head, **options, **changes)
        self.speaker.read(self.ws)
        return self

    def send_blocks(self, *, archive: bytes | None = None, num_blocks: int | None = None) -> "Push":
        """Messages 3 and 4."""
        whole = gzip.compress(tar_of((name, data) for name, data, _ in self.chain), 6)
        count = len(self.chain) if num_blocks is None else num_blocks
        self.speaker.send_blocks(self.ws, whole if archive is None else archive, count)
        self.speaker.read(self.ws)
        return self

    def negotiate(self, items: Sequence[Item] | None = None) -> list[Strategy]:
        """Messages 5 and 6."""
        self.speaker.send_negotiation(self.ws, objects_of(self.chain) if items is None else items)
        return self.speaker.read_strategies(self.ws)

    def content(self, item: Item) -> bytes:
        return self.local.object_path(item[0], item[1]).read_bytes()

    def upload(self, strategies: Iterable[Strategy]) -> "Push":
        """PUT of what is asked for; every one is taken."""
        for strategy in strategies:
            if strategy.url is not None:
                assert upload(strategy.url, self.content(strategy.item)) == 200
        return self

    def prepare(self) -> "Push":
        """Everything up to the uploads."""
        return self.connect().offer().send_blocks()

    def uploaded(self) -> "Push":
        """Everything before the end: the objects are there, the client has said so."""
        self.prepare()
        self.upload(self.negotiate())
        self.speaker.send_uploaded(self.ws)
        return self

    def complete(self) -> None:
        """Messages 10 to 12; raises `WireRefusal`.

        A progress request that was under way looks like the confirmation (wire.md 3.7): the head tells.
        """
        self.ws.send_json({})
        assert self.speaker.read(self.ws) == {}
        while self.speaker.has_progress and self.remote.head() == self.head:
            assert self.speaker.read(self.ws) == {}
        self.ws.send_close(1000)

    def run(self) -> None:
        self.uploaded().complete()
