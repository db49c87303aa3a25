"""The remote control of the embedded rclone: what is said to it, and patience."""

import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.storage import StoreUnavailable
from odf_core.storage.control import RcloneControl


class FakeControl:
    """A control socket that gives the statuses it was told, the last one for ever; 0 hangs up."""

    def __init__(self, path: Path, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(8)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                path = lines.readline().split()[1].decode()
                length = 0
                while (line := lines.readline().strip().lower()) != b"":
                    if line.startswith(b"content-length:"):
                        length = int(line.partition(b":")[2])
                self.asked.append((path, json.loads(lines.read(length))))
                status = self._statuses.pop(0) if len(self._statuses) > 1 else self._statuses[0]
                if status:
                    connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n\r\n{}" % status)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="odf-") as folder:
        yield Path(folder) / "control"


def test_names_are_told_as_files(path: Path) -> None:
    fake = FakeControl(path, 200)
    RcloneControl(path).forget(["b/y", "b/x", "b/x"])
    fake.close()
    assert fake.asked == [("/vfs/forget", {"file0": "b/x", "file1": "b/y"})]


def test_many_names_are_told_in_parts(path: Path) -> None:
    fake = FakeControl(path, 200)
    RcloneControl(path).forget(f"b/{number}" for number in range(2500))
    fake.close()
    assert [len(names) for _, names in fake.asked] == [1000, 1000, 500]


def test_it_is_asked_again_until_it_answers_well(path: Path) -> None:
    fake = FakeControl(path, 500, 0, 200)
    RcloneControl(path).forget(["b/x"])
    fake.close()
    assert len(fake.asked) == 3


@pytest.mark.parametrize("status", [500, 0, None])
def test_in_vain(path: Path, status: int | None) -> None:
    fake = None if status is None else FakeControl(path, status)
    started = time.monotonic()
    with pytest.raises(StoreUnavailable) as refused:
        RcloneControl(path, patience=0.3).forget(["b/x"])
    assert time.monotonic() - started < 10
    assert "cannot be told" in refused.value.message
    if fake is not None:
        fake.close()


def test_nothing_to_tell(path: Path) -> None:
    RcloneControl(path).forget([])
