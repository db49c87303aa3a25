"""One object from a URL to a file: ranges continued, size and SHA3-256 checked, then named."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from odf_core.identity import ObjectRef
from odf_core.transfer.client.answers import content_length, content_range_start, refusal, says_expired
from odf_core.transfer.client.errors import (
    DownloadMismatch,
    RemoteObjectNotFound,
    RemoteUnavailable,
    TransferUrlExpired,
    TransferUrlRefused,
    UnexpectedAnswer,
)
from odf_core.transfer.client.http import Answer, Http, unavailable
from odf_core.transfer.client.partial import Partial
from odf_core.transfer.client.progress import Progress
from odf_core.transfer.client.urls import shown_url


class UrlExpired(Exception):
    """The storage refuses a URL in words that speak of its age: a signal to the dispatcher, never public."""

    def __init__(self, refused: TransferUrlExpired) -> None:
        super().__init__(refused.message)
        self.refused = refused


class Stopped(Exception):
    """Another transfer failed, so this one ends without a verdict; never public either."""


@dataclass(slots=True)
class Download:
    """Fetches `ref` from `url` into `target`; `stop` ends it early.

    Broken connections and 5xx are tried again from where they broke off; what a failed download
    leaves is continued by the next one.
    """

    http: Http
    ref: ObjectRef
    url: str
    headers: Mapping[str, str]
    target: Path
    progress: Progress
    stop: threading.Event
    moved: int = 0

    def run(self) -> int:
        """The bytes that came over the wire, once the file is whole, right and named.

        Raises `DownloadMismatch`, `RemoteObjectNotFound`, `RemoteUnavailable`, `TransferUrlRefused`,
        `UnexpectedAnswer`, `UrlExpired`, `Stopped`.
        """
        with Partial(self.target, self._most_bytes) as part:
            self.progress.moved(part.size)
            while True:
                resumed = part.resumed
                self._complete(part)
                digest = part.digest()
                if digest == self.ref.hash:
                    part.finish(durable=self.http.options.durable)
                    return self.moved
                self._restart(part)
                if not resumed:  # else what an earlier run left may be the fault: once more from zero
                    part.discard()
                    raise DownloadMismatch(
                        f"The bytes that came for {self.ref} hash to {digest}: the sender's copy is damaged.",
                        objects=[self.ref.hash],
                        extras={"url": shown_url(self.url), "received": str(digest)},
                    )

    @property
    def _most_bytes(self) -> int:
        return self.ref.size if self.ref.size is not None else self.http.options.limits.object_bytes

    def _complete(self, part: Partial) -> None:
        """Bring `part` to its whole size, with patience that every new byte makes whole again."""
        failures = 0
        while not part.size or part.size != self.ref.size:
            start = part.size
            try:
                if self._fetch(part):
                    return
            except RemoteUnavailable as error:
                failures = 1 if part.size > start else failures + 1
                if failures >= self.http.options.attempts or self.stop.is_set():
                    raise
                self.http.pause(failures, error)

    def _fetch(self, part: Partial) -> bool:
        """One request for what is missing; False where `part` was emptied and must be asked for anew."""
        headers = {**self.headers, "Range": f"bytes={part.size}-"} if part.size else self.headers
        with self.http.open("GET", self.url, headers) as answer:
            if not self._positioned(answer, part):
                return False
            start = part.size
            while chunk := answer.read(self.http.options.chunk_bytes):
                if self.stop.is_set():
                    raise Stopped
                part.write(chunk)
                self.moved += len(chunk)
                self.progress.moved(len(chunk))
                if part.size > self._most_bytes:
                    raise self._wrong_size(part)
            if self.ref.size is not None and part.size < self.ref.size:
                announced = content_length(answer.headers)
                if announced is not None and start + announced == part.size:
                    raise self._wrong_size(part)
                raise RemoteUnavailable(f"The answer with {self.ref} ended early.", objects=[self.ref.hash])
        return True

    def _positioned(self, answer: Answer, part: Partial) -> bool:
        """Whether the answer's body continues `part` (emptied first, if the body is the whole object).

        Some storages answer a range with 200: `Content-Range` decides (stack.md 2.9).
        """
        if answer.status in (200, 206):
            first = content_range_start(answer.headers)
            if first is None and answer.status == 206:
                raise UnexpectedAnswer(
                    "The storage sent a part without saying which.", objects=[self.ref.hash]
                )
            if (first or 0) != part.size:
                self._restart(part)
            return (first or 0) == part.size
        if answer.status == 416 and part.size:
            self._restart(part)
            return False
        raise object_refusal(self.http, answer, self.ref)

    def _restart(self, part: Partial) -> None:
        self.progress.moved(-part.size)
        part.restart()

    def _wrong_size(self, part: Partial) -> DownloadMismatch:
        received = part.size
        self._restart(part)
        part.discard()
        return DownloadMismatch(
            f"{self.ref} is declared with {self.ref.size} bytes, but {received} or more came.",
            objects=[self.ref.hash],
            extras={"url": shown_url(self.url), "declared": self.ref.size, "received": received},
        )


def object_refusal(http: Http, answer: Answer, ref: ObjectRef) -> Exception:
    """What a storage's refusal means for one object; `UrlExpired` where a new URL may help."""
    passing = unavailable(answer)
    if passing is not None:
        return passing
    extras = {"url": shown_url(answer.url), "status": answer.status}
    if answer.status == 404:
        return RemoteObjectNotFound(
            f"The sender lacks {ref}, which its chain names.", objects=[ref.hash], extras=extras
        )
    if answer.status not in (400, 401, 403):
        return UnexpectedAnswer(
            f"The storage answered {answer.status} for {ref}.", objects=[ref.hash], extras=extras
        )
    body = answer.read_text(http.options.limits.http_body_bytes)
    why = refusal(answer.status, answer.headers, body, shown_url(answer.url))
    expired = says_expired(answer.status, body)
    refused = (TransferUrlExpired if expired else TransferUrlRefused)(
        f"The storage refuses the URL of {ref} with {answer.status}.",
        objects=[ref.hash],
        extras={**extras, "told": why.message},
    )
    return UrlExpired(refused) if isinstance(refused, TransferUrlExpired) else refused
