"""`rclone serve s3` over a directory, on a port that the node reserves and never gives away.

Facts: stack.md 2.1 (start, socket activation, key in the environment), 2.4 (what a kill leaves). rclone
gives every socket that it inherits to the first server that it starts, which with `--rc` is the remote
control: so that one is inherited, and the S3 server binds the reserved port by itself.
"""

import contextlib
import http.client
import os
import signal
import socket
import sys
import time
from pathlib import Path

from app.embedded.binaries import rclone_binary
from app.embedded.child import Child, ChildSpec, Tie, child_environment, default_tie
from app.embedded.errors import S3PortTaken
from app.embedded.processes import end_process

TEMPORARY = ".rclone_temp_"
CONTROL_SOCKET = "s3-control"
_BACKLOG = 64
_HEADER_BYTES = 64 * 1024  # rclone's default of 4 KiB is little for a presigned URL with a session token
_PROBE_SECONDS = 1.0


class PortReservation:
    """A TCP port that is ours though nothing listens on it: bound by the node, for as long as it lives.

    On Linux a second socket, rclone's, may bind the same address with SO_REUSEADDR and listen. Elsewhere
    two sockets may not share it; there the port is looked at and let go.
    """

    def __init__(self, host: str, port: int, patience: float = 0.0) -> None:
        """Port 0 takes a free one. Raises S3PortTaken after `patience` seconds.

        A server of the node's former life needs some milliseconds to die, hence the patience.
        """
        self.host = host
        self._socket = _bound(host, port, patience)
        self.port = int(self._socket.getsockname()[1])
        if sys.platform != "linux":
            self._socket.close()

    def close(self) -> None:
        self._socket.close()


def _bound(host: str, port: int, patience: float) -> socket.socket:
    deadline = time.monotonic() + patience
    while True:
        bound = socket.socket(socket.AF_INET)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
        except OSError as error:
            bound.close()
            if time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise S3PortTaken(
                f"The S3 server cannot listen on {host} port {port} ({error.strerror}): stop the program "
                "that holds the port, or choose another (presigned URLs that are out name this one).",
                objects=[f"{host}:{port}"],
                extras={"host": host, "port": port},
            ) from error
        return bound


def control_listener(path: Path) -> socket.socket:
    """The socket of rclone's remote control; the node keeps it, so calls wait while rclone restarts."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(_BACKLOG)
    return listener


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
        self,
        root: Path,
        address: PortReservation,
        control: socket.socket,
        key: tuple[str, str],
        log: Path,
        *,
        tie: Tie | None = None,
    ) -> None:
        self.root, self.log = root, log
        self._address, self._control, self._key = address, control, key
        self._tie = tie or default_tie()
        self._rclone = rclone_binary()
        self._pid_file = root.with_name("rclone.pid")
        self.child: Child | None = None
        self.sweep_first = False

    def start(self) -> None:
        """Sweep if a server was killed here, then start one on the node's port."""
        if self.sweep_first:
            self._end_stranded()
            sweep(self.root)
        self.sweep_first = True  # whoever starts it again does so because it died
        self.child = Child(self._spec())
        self._pid_file.write_text(f"{self.child.pid}\n")

    def probe(self) -> bool:
        """True when the server answers; the answer itself, a refusal of unsigned requests, is no matter."""
        connection = http.client.HTTPConnection("127.0.0.1", self._address.port, timeout=_PROBE_SECONDS)
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
        options = [
            *("--addr", f"{self._address.host}:{self._address.port}"),
            *("--rc", "--rc-no-auth"),  # on a socket in a folder of mode 0700
            *("--no-cleanup", "--umask", "077", "--max-header-bytes", str(_HEADER_BYTES)),
        ]
        return ChildSpec(
            name=self.name,
            command=[*command, *options],
            env=child_environment({"RCLONE_AUTH_KEY": f'"{self._key[0]},{self._key[1]}"'}),
            log=self.log,
            last_signal=signal.SIGKILL,  # uploads are atomic; a polite end would wait for them
            stop_signals=((signal.SIGTERM, 1.0),),
            listen_fd=self._control.fileno(),
            tie=self._tie,
        )

    def _end_stranded(self) -> None:
        with contextlib.suppress(FileNotFoundError, ValueError):
            pid = int(self._pid_file.read_text())
            end_process(pid, "rclone", str(self.root), [(signal.SIGKILL, 5.0)])
