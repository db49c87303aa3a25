"""The caller's side of the Spark engine: reaches the process that is warm, or starts one.

No engine is imported here; importing this module costs little more than gRPC does.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import grpc

from odf_core.engines import starting
from odf_core.engines.contract import PROTOCOL
from odf_core.engines.errors import EngineDied, EngineFailed, EngineMessageTooLarge, EngineTimeout
from odf_core.engines.exchange import Exchange, open_exchange
from odf_core.engines.folders import EngineFolders, engine_folders
from odf_core.engines.options import SparkOptions
from odf_core.engines.program import OWN, EngineProgram
from odf_core.engines.wire import RUN, SLICES_SERVICE, channel_options, error_of

Progress: TypeAlias = Callable[[str], None]

_REFUSED_SECONDS = 60
"""How long engines may end (of idleness, say) before one takes a call."""
_REFUSED_STEP_SECONDS = 0.05
_STOP_SECONDS = 20.0


class SparkEngine:
    """A Spark engine, shared by all programs of this user with equal options; made without starting it.

    Threads may use one together. Nothing has to be closed: the process ends by itself when it is idle.
    """

    def __init__(self, options: SparkOptions | None = None, program: EngineProgram = OWN) -> None:
        self._options = options or SparkOptions.from_environment()
        self._program = program
        self._folders = engine_folders(self._options, program)
        self._info: dict[str, Any] | None = None

    @property
    def options(self) -> SparkOptions:
        """How the engine is run."""
        return self._options

    @property
    def program(self) -> EngineProgram:
        """Whose code it runs."""
        return self._program

    @property
    def folders(self) -> EngineFolders:
        """Its places."""
        return self._folders

    @property
    def info(self) -> dict[str, Any] | None:
        """What the engine of the last call said of itself: versions, process, fences; None before one."""
        return self._info

    def exchange(self) -> AbstractContextManager[Exchange]:
        """Fresh folders for the files of one request, removed at the end of the `with` block."""
        return open_exchange(self._folders)

    def run(
        self,
        kind: str,
        request: Mapping[str, Any],
        *,
        deadline: float | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """The answer of a call of this kind: JSON objects both ways.

        `deadline` is in seconds from now (default: `call_seconds` of the options); the start counts. When
        it has passed the engine is killed, with all calls that it works on, and `EngineTimeout` raised.
        Raises what the call's handler raises, and `EngineDied`, `EngineStartFailed`, `JavaNotFound`,
        `EngineBusy`, `EngineFailed`, `EngineMessageTooLarge`, `EngineIdentityDiffers`,
        `EngineProtocolUnsupported`.
        """
        seconds = self._options.call_seconds if deadline is None else deadline
        ends = time.monotonic() + seconds
        meant = {"protocol": PROTOCOL, "identity": self._program.identity}
        content = json.dumps({**request, **meant, "kind": kind}).encode()
        if len(content) > self._options.message_bytes:
            raise EngineMessageTooLarge(
                f"The request has {len(content)} bytes; the engine reads {self._options.message_bytes}."
            )
        say = progress or (lambda text: None)
        refused_since: float | None = None
        while refused_since is None or time.monotonic() - refused_since < _REFUSED_SECONDS:
            self._reach(ends, say)
            with _channel(self._folders, self._options.message_bytes) as channel:
                call = _Call(self._folders, ends, seconds, say)
                try:
                    answer = call.run(channel, content)
                finally:
                    self._info = call.info or self._info
            if answer is not None:
                return answer
            refused_since = refused_since or time.monotonic()
            time.sleep(_REFUSED_STEP_SECONDS)  # it is just ending: its lock outlives its socket
        raise EngineDied(
            f"The engine has not taken the call for {_REFUSED_SECONDS} s (log: {self._folders.log})."
        )

    def start(self, progress: Progress | None = None) -> None:
        """Starts the engine if none runs, and does not wait for Spark."""
        self._reach(time.monotonic() + self._options.start_seconds, progress or (lambda text: None))

    def stop(self) -> None:
        """Ends the engine if one runs, with all calls that it works on; waits until it is gone."""
        self._folders.create()
        with starting.starter(self._folders, time.monotonic() + self._options.start_seconds):
            starting.end(self._folders, _STOP_SECONDS)

    def running(self) -> bool:
        """Whether an engine with these options runs."""
        return starting.lives(self._folders)

    def _reach(self, ends: float, say: Progress) -> None:
        """Makes sure that an engine listens."""
        if self.running() and self._folders.socket.exists():
            return
        self._folders.create()
        with starting.starter(self._folders, ends):
            if self.running() and self._folders.socket.exists():
                return
            say("starting Spark")
            starting.end(self._folders, _STOP_SECONDS)  # one that is about to end, or did not come to listen
            starting.start(self._options, self._folders, self._program)


class _Call:
    """One attempt at one call."""

    def __init__(self, folders: EngineFolders, ends: float, seconds: float, say: Progress) -> None:
        self._folders = folders
        self._ends = ends
        self._seconds = seconds
        self._say = say
        self.info: dict[str, Any] | None = None
        """What the engine said of itself when it took the call."""

    def run(self, channel: grpc.Channel, content: bytes) -> dict[str, Any] | None:
        """The answer, or None if the engine ended before it took the call."""
        method = channel.unary_stream(f"/{SLICES_SERVICE}/{RUN}")
        words = method(content, timeout=max(0.0, self._ends - time.monotonic()), wait_for_ready=False)
        try:
            for word in words:
                answer = self._hear(json.loads(word))
                if answer is not None:
                    return answer
        except grpc.RpcError as error:
            self._broken(error)
            return None
        finally:
            words.cancel()
        raise EngineFailed("The engine ended the call without a last word.")

    def _hear(self, word: dict[str, Any]) -> dict[str, Any] | None:
        match word:
            case {"accepted": dict(info)}:
                self.info = info
            case {"progress": str(text)}:
                self._say(text)
            case {"done": dict(answer)}:
                return answer
            case {"error": dict(told)}:
                raise error_of(told)
        return None

    def _broken(self, error: grpc.RpcError) -> None:
        """What a broken call means: raises, or returns where the engine never took it."""
        code = error.code()
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            starting.end(self._folders, 0)
            raise EngineTimeout(
                f"The engine did not answer within {self._seconds:.0f} s and was killed; raise "
                "spark.call_seconds if the work needs longer.",
                extras={"seconds": self._seconds},
            ) from error
        if code is grpc.StatusCode.UNAVAILABLE and self.info is None:
            return
        if code is grpc.StatusCode.UNAVAILABLE:
            raise EngineDied(
                f"The engine's process ended in the middle of the call (log: {self._folders.log}).",
                objects=[self._folders.log],
            ) from error
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise EngineMessageTooLarge(
                f"An answer of the engine is too large: {error.details()}."
            ) from error
        raise EngineFailed(f"The call of the engine failed ({code.name}): {error.details()}") from error


@contextlib.contextmanager
def _channel(folders: EngineFolders, message_bytes: int) -> Iterator[grpc.Channel]:
    channel = grpc.insecure_channel(f"unix:{folders.socket}", options=channel_options(message_bytes))
    try:
        yield channel
    finally:
        channel.close()
