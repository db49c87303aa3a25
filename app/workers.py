"""Workers as children of the node: started with it, started again when they die, ended with it."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson
from pydantic import BaseModel, SecretStr

import app
from app.embedded.child import Child, ChildSpec
from app.embedded.supervisor import Supervisor
from app.ingest.scratch import scratch_root
from app.settings import ENV_PREFIX, NESTING, OTHER_VARIABLES, Settings

_COMMAND = "from app.cli.main import main; main()"
_STOP_SECONDS = 10.0


def worker_environment(settings: Settings) -> dict[str, str]:
    """The environment under which `odf worker` has these settings, whatever the node was given them by."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(ENV_PREFIX) or name.upper() in OTHER_VARIABLES - {"ODF_CONFIG"}
    }
    told = {ENV_PREFIX + name.upper(): value for name, value in _texts(settings)}
    return {**kept, **told, "PYTHONPATH": str(Path(app.__path__[0]).parent)}


def _texts(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of each setting that is not the default; paths always, since the default ones begin in
    the folder in which the node was started, and a child is in another."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _texts(value, f"{prefix}{name}{NESTING}")
        elif isinstance(value, Path) or (
            value is not None and value != field.get_default(call_default_factory=True)
        ):
            yield prefix + name, _text(value)


def _text(value: object) -> str:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value.absolute())  # a child runs in another folder
        case str():
            return value
        case _:
            return orjson.dumps(value).decode()


def log_folder(settings: Settings) -> Path:
    """Where workers write their logs: with the other children's, else in the scratch folder."""
    if settings.embedded.enabled:
        return settings.embedded.data_dir.absolute() / "logs"
    return scratch_root(settings) / "logs"


class WorkerService:
    """One worker, as the supervisor wants it."""

    def __init__(self, number: int, environment: Mapping[str, str], log: Path) -> None:
        self.name, self.log = f"worker-{number}", log
        self._environment = environment
        self.child: Child | None = None

    def start(self) -> None:
        self.child = Child(
            ChildSpec(
                name=self.name,
                command=[sys.executable, "-c", _COMMAND, "worker"],
                env=self._environment,
                log=self.log,
                last_signal=signal.SIGKILL,  # what it works on is done again by the next one
                stop_signals=[(signal.SIGTERM, _STOP_SECONDS)],
            )
        )

    def probe(self) -> bool:
        """It is ready when it runs: nobody talks to it."""
        return self.child is not None and self.child.exit_code() is None

    def stop(self) -> bool:
        return self.child is None or self.child.stop()

    def why(self, code: int | None) -> Exception | None:
        return None


@contextmanager
def running_workers(settings: Settings) -> Iterator[None]:
    """`jobs.workers` workers, as long as the block lasts.

    To be entered in the main thread. A worker that cannot run is started again and again, and the node goes
    on: what needs no jobs needs no worker.
    """
    if not settings.jobs.workers:
        yield
        return
    logs, environment = log_folder(settings), worker_environment(settings)
    logs.mkdir(mode=0o700, parents=True, exist_ok=True)
    numbers = range(settings.jobs.workers)
    services = [WorkerService(number, environment, logs / f"worker-{number}.log") for number in numbers]
    supervisor = Supervisor(services, gives_up=False)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()
