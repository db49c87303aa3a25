"""PostgreSQL as a direct child: cluster made once, one Unix socket, nobody else may connect.

Facts: stack.md 1.3 (start, stop, locale, stale postmaster.pid), 1.4 (root), 1.5 (versions).
"""

import contextlib
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import psycopg

from app.embedded.binaries import POSTGRES_MAJOR, postgres_bin_dir
from app.embedded.child import Child, ChildSpec, Tie, child_environment, default_tie, log_tail
from app.embedded.directory import unusable
from app.embedded.errors import DatabaseVersionMismatch, RootRefused, ServiceStartFailed
from app.embedded.launcher import EXIT_NO_NAMESPACE
from app.embedded.processes import end_process

SUPERUSER = "odf"
DATABASE = "odf"
_INITDB_SECONDS = 300
_FAST, _IMMEDIATE = signal.SIGINT, signal.SIGQUIT  # never SIGTERM: it waits for clients
_STOP_SIGNALS: Sequence[tuple[signal.Signals, float]] = ((_FAST, 30.0), (_IMMEDIATE, 5.0))
_NOT_DURABLE = ("fsync", "synchronous_commit", "full_page_writes", "autovacuum")
_INITDB_OPTIONS = (
    f"--username={SUPERUSER}",
    "--auth=trust",  # the socket's folder has mode 0700: only this user gets as far as asking
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
)


class PostgresService:
    """The database server of one data directory; `start()` may be called again after it died."""

    name = "postgres"

    def __init__(
        self,
        cluster: Path,
        socket_dir: Path,
        log: Path,
        *,
        durable: bool = True,
        max_connections: int = 100,
        tie: Tie | None = None,
    ) -> None:
        self.cluster, self.socket_dir, self.log = cluster, socket_dir, log
        self._durable, self._max_connections = durable, max_connections
        self._tie = tie or default_tie()
        self._bin = postgres_bin_dir()
        self._unroot = os.geteuid() == 0
        self.child: Child | None = None

    @property
    def url(self) -> str:
        """SQLAlchemy's address of the node's database (sync and async engines alike)."""
        return f"postgresql+psycopg://{SUPERUSER}@/{DATABASE}?host={self.socket_dir}"

    def start(self) -> None:
        """Make the cluster if there is none, clear what a former life left, start the server."""
        if not (self.cluster / "PG_VERSION").is_file():
            self._initdb()
        self._check_version()
        self._clear_stale_pid()
        self.child = Child(self._spec(self._server_command()))

    def probe(self) -> bool:
        """True once the server takes connections and the node's database is there."""
        try:
            with self._connect("postgres") as connection:
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
                if found.fetchone() is None:
                    with contextlib.suppress(psycopg.errors.DuplicateDatabase):
                        connection.execute(f"CREATE DATABASE {DATABASE}")
        except psycopg.OperationalError:
            return False  # still starting or recovering
        return True

    def stop(self) -> bool:
        """Fast shutdown (sessions are ended, a checkpoint is made); True if it needed no SIGKILL."""
        child, self.child = self.child, None
        return child.stop() if child else True

    def why(self, code: int | None) -> Exception | None:
        """A better error than "it ended", where the exit code of the launcher tells one."""
        return _root_refused() if code == EXIT_NO_NAMESPACE else None

    def _connect(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.socket_dir), user=SUPERUSER, dbname=database, autocommit=True, connect_timeout=2
        )

    def _server_command(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_dir),
            "unix_socket_permissions": "0700",
            "max_connections": str(self._max_connections),
            "cluster_name": "odf-node",
            "logging_collector": "off",
            "log_destination": "stderr",
            "log_timezone": "UTC",
            "timezone": "UTC",
        }
        if not self._durable:
            settings.update(dict.fromkeys(_NOT_DURABLE, "off"))
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._bin / "postgres"), "-D", str(self.cluster), *options]

    def _spec(self, command: Sequence[str]) -> ChildSpec:
        return ChildSpec(
            name=self.name,
            command=command,
            env=child_environment({"TZ": "UTC"}),
            log=self.log,
            last_signal=_FAST,
            stop_signals=_STOP_SIGNALS,
            unroot=self._unroot,
            tie=self._tie,
        )

    def _initdb(self) -> None:
        """Into a folder beside, renamed when whole: a kill half-way leaves no half cluster."""
        fresh = self.cluster.with_name(self.cluster.name + ".new")
        command = [str(self._bin / "initdb"), "-D", str(fresh), *_INITDB_OPTIONS]
        if not self._durable:
            command.append("--no-sync")
        try:
            shutil.rmtree(fresh, ignore_errors=True)
            said_before = self.log.stat().st_size if self.log.is_file() else 0
            code = Child(self._spec(command)).wait(_INITDB_SECONDS)
            if code == 0:
                fresh.replace(self.cluster)
                return
        except OSError as error:
            raise unusable(self.cluster.parent, error) from error
        raise self.why(code) or _initdb_failed(self.cluster, code, log_tail(self.log, said_before))

    def _check_version(self) -> None:
        try:
            found = (self.cluster / "PG_VERSION").read_text(errors="replace").strip()
        except OSError as error:
            raise unusable(self.cluster.parent, error) from error
        if found != str(POSTGRES_MAJOR):
            raise DatabaseVersionMismatch(
                f"{self.cluster} was made by PostgreSQL {found or 'unknown'}, and this node runs "
                f"{POSTGRES_MAJOR}: upgrade it with pg_upgrade, or move it away and rebuild the index "
                "from the objects with `odf admin reindex` (accounts and tokens are then made anew).",
                objects=[self.cluster],
                extras={"found": found, "expected": POSTGRES_MAJOR},
            )

    def _clear_stale_pid(self) -> None:
        """End a server of ours that outlived its node; drop a pid file that names somebody else.

        Safe because the node holds the lock of the data directory. PostgreSQL itself would refuse for
        ever when the pid was given to another process of the same user (after a reboot, in a container).
        """
        pid_file = self.cluster / "postmaster.pid"
        try:
            lines = pid_file.read_text(errors="replace").splitlines()
            pid = int(lines[0]) if lines and lines[0].strip().isdigit() else 0
            if pid > 1:
                end_process(pid, "postgres", str(self.cluster), [*_STOP_SIGNALS, (signal.SIGKILL, 5.0)])
            if pid <= 1 or _alive(pid):
                pid_file.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except OSError as error:
            raise unusable(self.cluster.parent, error) from error


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _root_refused() -> RootRefused:
    return RootRefused(
        "PostgreSQL does not run as root and this machine allows no user namespaces (containers often "
        "forbid them): start the node as a plain user, or give it a Postgres and an S3 of your own."
    )


def _initdb_failed(cluster: Path, code: int | None, said: str) -> ServiceStartFailed:
    last = said.splitlines()[-1] if said else "it said nothing"
    ended = f"no end after {_INITDB_SECONDS} seconds" if code is None else f"exit status {code}"
    return ServiceStartFailed(
        f"The database could not be made in {cluster} (initdb: {ended}): {last}",
        objects=[cluster],
        extras={"log": said, "exit": code},
    )
