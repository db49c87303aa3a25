"""The baseline of pull and push: the same objects by bare presigned URLs, nothing checked.

Same HTTP library (urllib3), same number of threads, same piece size and the same files as the client
uses. What a pull wrote is flushed to the disk once at the end, as the client does before it moves a head.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import urllib3

from odf_core.storage.flushing import flush
from odf_core.transfer.client import TransferOptions


@dataclass(frozen=True, slots=True)
class Item:
    """One object: its URL, and the file that it comes from or goes to."""

    url: str
    file: Path


def fetch_all(
    items: Sequence[Item], options: TransferOptions, *, durable: bool, hashed: bool = False
) -> float:
    """GET every item into its file; seconds from the first connection to the last byte.

    `durable` flushes to the disk at the end; `hashed` has SHA3-256 made of all bytes and nothing compared.
    """

    def fetch(pool: urllib3.PoolManager, item: Item) -> None:
        answer = pool.request("GET", item.url, preload_content=False, decode_content=False)
        hasher = hashlib.sha3_256()
        descriptor = os.open(item.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            while chunk := answer.read(options.chunk_bytes):
                os.write(descriptor, chunk)
                if hashed:
                    hasher.update(chunk)
        finally:
            os.close(descriptor)
            answer.release_conn()
        _require_success(answer)

    def finish() -> None:
        if durable:
            flush({item.file for item in items} | {item.file.parent for item in items})

    return _timed(items, options, fetch, finish)


def send_all(items: Sequence[Item], options: TransferOptions) -> float:
    """PUT every item's file; seconds until the last answer."""

    def send(pool: urllib3.PoolManager, item: Item) -> None:
        with item.file.open("rb", buffering=0) as file:
            headers = {"Content-Length": str(os.fstat(file.fileno()).st_size)}
            answer = pool.request("PUT", item.url, body=file, headers=headers)
        _require_success(answer)

    return _timed(items, options, send, lambda: None)


def _timed(
    items: Iterable[Item],
    options: TransferOptions,
    move: Callable[[urllib3.PoolManager, Item], None],
    finish: Callable[[], None],
) -> float:
    os.sync()
    started = time.perf_counter()
    with (
        urllib3.PoolManager(
            maxsize=options.parallelism, blocksize=options.chunk_bytes, retries=False
        ) as pool,
        ThreadPoolExecutor(options.parallelism) as threads,
    ):
        for _ in threads.map(lambda item: move(pool, item), items):
            pass
        finish()
    return time.perf_counter() - started


def _require_success(answer: urllib3.BaseHTTPResponse) -> None:
    if answer.status != 200:
        raise RuntimeError(f"the storage answered {answer.status}")
