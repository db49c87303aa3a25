"""`rclone serve s3` over a directory, on a listening socket that the node binds and keeps.

Facts: stack.md 2.1 (start, socket activation, key in the environment), 2.4 (what a kill leaves).
"""

import contextlib
import http.client
import os
import signal
import socket
import time
from pathlib import Path

from app.embedded.binaries import rclone_binary
from app.embedded.child import Child, ChildSpec, Tie, child_environment, default_tie
from app.embedded.errors import S3PortTaken
from app.embedded.processes import end_process

TEMPORARY = ".rclone_temp_"
_BACKLOG = 512
_HEADER_BYTES = 64 * 1024  # rclone's default of 4 KiB is little for a presigned URL with a session token
_PROBE_SECONDS = 1.0


def bind(host: str, port: int, patience: float = 0.0) -> socket.socket:
    """The listening socket of the S3 server; port 0 takes a free one. S3PortTaken after `patience` s.

    A server of the node's former life needs some milliseconds to die, hence the patience.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            return socket.create_server((host, port), backlog=_BACKLOG)
        except OSError as error:
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise S3PortTaken(
                f"The S3 server cannot listen on {host} port {port} ({error.strerror}): stop the program "
                "that holds the port, or choose another (presigned URLs that are out name this one).",
                objects=[f"{host}:{port}"],
                extras={"host": host, "port": port},
            ) from error


def sweep(root: Path) -> int:
    """Delete uploads that a killed server left half-way; returns how many. Only while none runs."""
    swept = 0
    for folder, _, files in os.walk(root):
        for name in files:
            if name.startswith(TEMPORARY):
                with contextlib.suppress(FileNotFoundError):
                    Path(folder, name).unlink()
                    swept += 1
    return swept


class S3Service:
    """The S3 server of one data directory; `start()` may be called again after it died."""

    name = "rclone"

    def __init__(
        self, root: Path, listener: socket.socket, key: tuple[str, str], log: Path, *, tie: Tie | None = None
    ) -> None:
        self.root, self.log = root, log
        self._listener, self._key = listener, key
        self._tie = tie or default_tie()
        self._rclone = rclone_binary()
        self._pid_file = root.with_name("rclone.pid")
        self.child: Child | None = None
        self.sweep_first = False

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def start(self) -> None:
        """Sweep if a server was killed here, then start one on the node's socket."""
        if self.sweep_first:
            self._end_stranded()
            sweep(self.root)
        self.sweep_first = True  # whoever starts it again does so because it died
        self.child = Child(self._spec())
        self._pid_file.write_text(f"{self.child.pid}\n")

    def probe(self) -> bool:
        """True when the server answers; the answer itself, a refusal of unsigned requests, is no matter.

        A mere connect would tell nothing: the socket is the node's and accepts before the server runs.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PROBE_SECONDS)
        try:
            connection.request("HEAD", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return True

    def stop(self) -> bool:
        """Stop the server; False if an upload was cut (its leavings are swept at the next start)."""
        child, self.child = self.child, None
        by_itself = child.stop() if child else True
        self._pid_file.unlink(missing_ok=True)
        return by_itself

    def why(self, code: int | None) -> Exception | None:
        return None

    def _spec(self) -> ChildSpec:
        command = [str(self._rclone), "--config", "", "serve", "s3", str(self.root)]
        options = ["--no-cleanup", "--umask", "077", "--max-header-bytes", str(_HEADER_BYTES)]
        return ChildSpec(
            name=self.name,
            command=[*command, *options],
            env=child_environment({"RCLONE_AUTH_KEY": f'"{self._key[0]},{self._key[1]}"'}),
            log=self.log,
            last_signal=signal.SIGKILL,  # uploads are atomic; a polite end would wait for them
            stop_signals=((signal.SIGTERM, 1.0),),
            listen_fd=self._listener.fileno(),
            tie=self._tie,
        )

    def _end_stranded(self) -> None:
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid = int(self._pid_file.read_text())
            end_process(pid, "rclone", str(self.root), [(signal.SIGKILL, 5.0)])
