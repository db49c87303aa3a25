"""Postgres and S3 under one data directory, living and dying with the process that starts them."""

import contextlib
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from app.embedded.child import Tie, default_tie
from app.embedded.directory import DataDirectory, unusable
from app.embedded.errors import PlatformUnsupported
from app.embedded.postgres import PostgresService
from app.embedded.s3 import CONTROL_SOCKET, PortReservation, S3Service, control_listener
from app.embedded.state import ServicesState, load_state, save_state
from app.embedded.supervisor import Supervisor
from odf_core.errors import InternalError, OdfError

BUCKET = "odf-node"
_FORMER_LIFE_SECONDS = 5.0  # how long a killed node's server may hold our port


@dataclass(frozen=True, slots=True)
class EmbeddedS3:
    """How to reach the S3 server, and where its files lie (`root`/`bucket`/key).

    `control` is the Unix socket of its remote control: who writes below `root` while the server runs
    has to tell it there which files have changed (stack.md 2.6).
    """

    endpoint: str
    region: str
    access_key_id: str
    secret_access_key: str
    bucket: str
    root: Path
    control: Path

    def __repr__(self) -> str:  # the secret stays out of logs
        return f"EmbeddedS3(endpoint={self.endpoint!r}, bucket={self.bucket!r}, root={str(self.root)!r})"


@dataclass(frozen=True, slots=True)
class _Parts:
    """What there is between start() and stop()."""

    postgres: PostgresService
    rclone: S3Service
    s3: EmbeddedS3
    supervisor: Supervisor


class EmbeddedServices:
    """The two services as one thing: `start()`, use `database_url` and `s3`, `stop()`.

    They die with the process that started them, also by SIGKILL; a service that dies is started
    again behind the same addresses (`is_healthy()` is False meanwhile). One that keeps dying is given
    up: `failure` has the reason, and `on_failure` is called with it, from another thread.

    `s3_port` None: the port of the last start, at first any free one. `durable` False (tests only)
    leaves out every fsync of the database.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        s3_port: int | None = None,
        s3_host: str = "127.0.0.1",
        bucket: str = BUCKET,
        durable: bool = True,
        max_connections: int = 100,
        tie: Tie | None = None,
        on_failure: Callable[[OdfError], None] | None = None,
    ) -> None:
        self._directory = DataDirectory(data_dir)
        self._s3_port, self._s3_host, self._bucket = s3_port, s3_host, bucket
        self._durable, self._max_connections = durable, max_connections
        self._tie, self._on_failure = tie or default_tie(), on_failure
        self._parts: _Parts | None = None
        self._undo = contextlib.ExitStack()
        self.failure: OdfError | None = None

    @property
    def data_dir(self) -> Path:
        return self._directory.path

    @property
    def database_url(self) -> str:
        """SQLAlchemy URL, `postgresql+psycopg://odf@/odf?host=…`."""
        return self._running().postgres.url

    @property
    def s3(self) -> EmbeddedS3:
        return self._running().s3

    @property
    def restarts(self) -> int:
        """How often a service that died was started again."""
        return self._running().supervisor.restarts

    def is_healthy(self) -> bool:
        """True while both services run and have answered since they were last started."""
        return self._parts is not None and self._parts.supervisor.is_healthy()

    def pids(self) -> dict[str, int]:
        """Process ids of the children that run now, by name ("postgres", "rclone")."""
        parts = self._running()
        children = ((item.name, item.child) for item in (parts.postgres, parts.rclone))
        return {name: child.pid for name, child in children if child is not None}

    def start(self) -> None:
        """Start both and return when they answer.

        Raises a leaf of `app.embedded.errors`, and then nothing is left running.
        """
        if self._parts is not None:
            raise InternalError("These embedded services were started already.")
        if sys.platform not in ("linux", "darwin"):
            raise PlatformUnsupported(
                f"The embedded Postgres and S3 run on Linux and macOS, not on {sys.platform}: "
                "use the container image, or a Postgres and an S3 of your own."
            )
        with contextlib.ExitStack() as undo:
            self._directory.acquire()
            undo.callback(self._directory.release)
            parts = self._prepare(undo)
            parts.supervisor.start()
            self._undo = undo.pop_all()
        self._parts, self.failure = parts, None

    def stop(self) -> None:
        """Stop S3, then Postgres, and let the directory go. Does nothing when nothing runs."""
        parts, self._parts = self._parts, None
        if parts is None:
            return
        parts.supervisor.stop()
        if parts.supervisor.clean:
            self._directory.unclean_marker.unlink(missing_ok=True)
        self._undo.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _running(self) -> _Parts:
        if self._parts is None:
            raise InternalError("The embedded services are not running: call start() first.")
        return self._parts

    def _failed(self, error: OdfError) -> None:
        self.failure = error
        if self._on_failure is not None:
            self._on_failure(error)

    def _prepare(self, undo: contextlib.ExitStack) -> _Parts:
        directory = self._directory
        state = load_state(directory.state_file)
        wanted = state.s3_port if self._s3_port is None else self._s3_port
        patience = _FORMER_LIFE_SECONDS if wanted and wanted == state.s3_port else 0.0
        address = PortReservation(self._s3_host, wanted, patience)
        undo.callback(address.close)
        socket_dir = directory.socket_dir(state.socket_dir)
        if socket_dir.parent != directory.path:
            undo.callback(_remove_empty, socket_dir)
        fresh = state.model_copy(update={"s3_port": address.port, "socket_dir": str(socket_dir)})
        if fresh != state or not directory.state_file.exists():
            save_state(directory.state_file, fresh)
        postgres = PostgresService(
            directory.postgres,
            socket_dir,
            directory.logs / "postgres.log",
            durable=self._durable,
            max_connections=self._max_connections,
            tie=self._tie,
        )
        control = socket_dir / CONTROL_SOCKET
        rclone = self._make_rclone(address, undo.enter_context(_control(control)), fresh)
        supervisor = Supervisor([postgres, rclone], self._failed)
        return _Parts(postgres, rclone, self._describe_s3(fresh, control), supervisor)

    def _make_rclone(
        self, address: PortReservation, control: socket.socket, state: ServicesState
    ) -> S3Service:
        directory, key = self._directory, (state.access_key_id, state.secret_access_key)
        log = directory.logs / "rclone.log"
        rclone = S3Service(directory.s3, address, control, key, log, tie=self._tie)
        try:
            (directory.s3 / self._bucket).mkdir(mode=0o700, exist_ok=True)
            rclone.sweep_first = directory.unclean_marker.exists()
            directory.unclean_marker.touch()
        except OSError as error:
            raise unusable(directory.path, error) from error
        return rclone

    def _describe_s3(self, state: ServicesState, control: Path) -> EmbeddedS3:
        return EmbeddedS3(
            endpoint=f"http://127.0.0.1:{state.s3_port}",
            region="us-east-1",
            access_key_id=state.access_key_id,
            secret_access_key=state.secret_access_key,
            bucket=self._bucket,
            root=self._directory.s3,
            control=control,
        )


@contextlib.contextmanager
def _control(path: Path) -> Iterator[socket.socket]:
    try:
        listener = control_listener(path)
    except OSError as error:
        raise unusable(path, error) from error
    with listener:
        yield listener
    path.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()  # a folder in /tmp that PostgreSQL has emptied; what is left is found again
