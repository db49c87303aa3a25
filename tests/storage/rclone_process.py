"""An rclone of a test's own, with remote control: its port and control socket survive kills."""

import http.client
import os
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path

from app.embedded.binaries import rclone_binary
from app.embedded.child import Child, ChildSpec, child_environment
from odf_core.storage import S3Config
from odf_core.storage.control import RcloneControl
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.s3 import S3Store

ACCESS_KEY_ID, SECRET = "storage-tests", "a-secret-of-the-storage-tests"
READY_SECONDS = 30.0


class RcloneProcess:
    """`start()`, `kill()`, `pause()`, `resume()`; a `with` block ends it and removes its folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="odf-storage-"))  # short: a socket's path is bounded
        self.root = self.folder / "s3"
        self.root.mkdir()
        self._port_holder = socket.socket()
        self._port_holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port_holder.bind(("127.0.0.1", 0))  # bound, never listening: nobody else gets the port
        self.port = int(self._port_holder.getsockname()[1])
        self.control_path = self.folder / "control"
        self._control = socket.socket(socket.AF_UNIX)
        self._control.bind(str(self.control_path))
        self._control.listen(16)
        self._child: Child | None = None

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(rclone_binary()), "--config", "", "serve", "s3", str(self.root)]
        address = ["--addr", f"127.0.0.1:{self.port}", "--rc", "--rc-no-auth", "--umask", "077"]
        self._child = Child(
            ChildSpec(
                name="rclone",
                command=[*command, *address],
                env=child_environment({"RCLONE_AUTH_KEY": f'"{ACCESS_KEY_ID},{SECRET}"'}),
                log=self.folder / "rclone.log",
                last_signal=signal.SIGKILL,
                stop_signals=((signal.SIGKILL, 5.0),),
                listen_fd=self._control.fileno(),
            )
        )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
            try:
                connection.request("HEAD", "/")
                connection.getresponse()
            except (OSError, http.client.HTTPException):
                time.sleep(0.02)
            else:
                return
            finally:
                connection.close()
        raise AssertionError(f"rclone does not start: {(self.folder / 'rclone.log').read_text()}")

    def kill(self) -> None:
        if self._child is not None:
            self._child.stop()
            self._child = None

    def pause(self) -> None:
        assert self._child is not None
        os.kill(self._child.pid, signal.SIGSTOP)
        os.waitpid(self._child.pid, os.WUNTRACED)  # a busy machine takes its time to stop all threads

    def resume(self) -> None:
        assert self._child is not None
        os.kill(self._child.pid, signal.SIGCONT)

    def make_bucket(self, name: str) -> None:
        (self.root / name).mkdir()
        RcloneControl(self.control_path).forget([name])

    def config(self, bucket: str, **changes: object) -> S3Config:
        values: dict[str, object] = {
            "bucket": bucket,
            "endpoint": self.endpoint,
            "access_key_id": ACCESS_KEY_ID,
            "secret_access_key": SECRET,
            **changes,
        }
        return S3Config(**values)  # type: ignore[arg-type]

    def embedded_store(self, bucket: str, **changes: object) -> EmbeddedS3Store:
        server = S3Store(self.config(bucket, **changes))
        return EmbeddedS3Store(self.root, bucket, server, RcloneControl(self.control_path))

    def __enter__(self) -> "RcloneProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._port_holder.close()
        self._control.close()
        shutil.rmtree(self.folder)
