"""The output of a container; files in a folder that it shares tell the state (data.md 3.1)."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from odf_core.ingest.errors import (
    ContainerFailed,
    ContainerRuntimeMissing,
    InvalidFetchStep,
    SourceMisbehaved,
    SourceTimedOut,
)
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.fetch.spool import spooled
from odf_core.ingest.fetch.templates import expand
from odf_core.ingest.fetch.values import ETAG, LAST_MODIFIED, FetchContext, Fetched, UpToDate
from odf_core.ingest.process import CannotStart, Ended, TookTooLong, run
from odf_core.limits import KiB
from odf_core.metadata.errors import InvalidTimestamp
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import FetchStepContainer
from odf_core.metadata.timestamp import Timestamp

_OUT = "/opt/odf/out"
_NEW_ETAG, _NEW_LAST_MODIFIED, _HAS_MORE = "new-etag", "new-last-modified", "new-has-more-data"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RUNTIME_FAILED = 125  # docker's and podman's own trouble, as opposed to the container's
_STATE_BYTES = 64 * KiB
_STDERR_BYTES = 4 * KiB
_REMOVAL_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Run:
    """One run: the runtime's program, the container's name, the folders on this side."""

    program: str
    name: str
    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def environment_file(self) -> Path:
        return self.folder / "environment"


def fetch_container(
    step: FetchStepContainer, state: SourceState | None, context: FetchContext
) -> Fetched | UpToDate:
    """What the container writes. Without output and without a new state it is up to date.

    Raises `FetchNotAllowed`, `ContainerRuntimeMissing`, `ContainerFailed`, `SourceMisbehaved`,
    `SourceTimedOut`, `SourceTooLarge`, `InvalidFetchStep`.
    """
    context.policy.require(Permission.CONTAINER, "Running a container")
    variables = _variables(step, state, context)
    source = f"The container {step.image[:200]}"
    with _prepared(_runtime(context), context) as here, spooled(source, context) as spool:
        here.environment_file.write_bytes(_lines(variables))
        ended = _run(here, step, spool.write, source, context)
        if ended.exit_code == _RUNTIME_FAILED:
            raise ContainerRuntimeMissing(f"{source} was not started; {Path(here.program).name} {ended}")
        if ended.exit_code != 0:
            raise ContainerFailed(f"{source} {ended}", extras={"exit_code": ended.exit_code})
        new_state = _new_state(here.out, source, context)
        has_more = (here.out / _HAS_MORE).is_file()
        if spool.size and new_state is not None and new_state == state:
            raise SourceMisbehaved(
                f"{source} gives data, and the state that it was called with as the new one."
            )
    if not spool.size and (new_state is None or new_state == state):
        spool.path.unlink(missing_ok=True)
        return UpToDate()
    return Fetched(
        path=spool.path, size=spool.size, source_state=new_state, event_time=None, has_more=has_more
    )


def _runtime(context: FetchContext) -> str:
    for name in context.options.container_runtimes:
        if (program := shutil.which(name, path=context.environment.get("PATH"))) is not None:
            return program
    wanted = " or ".join(context.options.container_runtimes)
    raise ContainerRuntimeMissing(
        f"A container is to be run, and this machine has no {wanted}; install one, or fetch from a URL."
    )


def _variables(step: FetchStepContainer, state: SourceState | None, context: FetchContext) -> dict[str, str]:
    """The protocol's variables, which the manifest's do not override."""
    told = {kind: state.value if state and state.kind == kind else "" for kind in (ETAG, LAST_MODIFIED)}
    variables = {}
    for variable in step.env or ():
        if variable.value is None:
            value = expand("${{ env." + variable.name + " }}", context, "environment of the container")
        else:
            value = expand(variable.value, context, "environment of the container")
        variables[variable.name] = value
    variables |= {
        "ODF_ETAG": told[ETAG],
        "ODF_LAST_MODIFIED": told[LAST_MODIFIED],
        "ODF_NEW_ETAG_PATH": f"{_OUT}/{_NEW_ETAG}",
        "ODF_NEW_LAST_MODIFIED_PATH": f"{_OUT}/{_NEW_LAST_MODIFIED}",
        "ODF_NEW_HAS_MORE_DATA_PATH": f"{_OUT}/{_HAS_MORE}",
        "ODF_BATCH_SIZE": str(context.options.container_batch_size),
    }
    for name, value in variables.items():
        if not _NAME.fullmatch(name) or any(character in value for character in "\n\r\0"):
            raise InvalidFetchStep(
                f"The environment variable {name[:100]!r} of the container has a name that is none, or a "
                "value with a line break."
            )
    return variables


def _lines(variables: dict[str, str]) -> bytes:
    text = "".join(f"{name}={value}\n" for name, value in variables.items())
    try:
        return text.encode("utf-8", "surrogateescape")  # as the system's own variables are
    except UnicodeEncodeError as error:
        raise InvalidFetchStep("An environment variable of the container is no text.") from error


@contextmanager
def _prepared(program: str, context: FetchContext) -> Iterator[_Run]:
    """Folders of one run; a container that is still there when the block raises is removed."""
    here = _Run(program, f"odf-ingest-{token_hex(8)}", context.workdir / f"container-{token_hex(8)}")
    here.folder.mkdir(mode=0o700)
    try:
        here.out.mkdir()
        here.out.chmod(0o777)  # whoever the container runs as; nobody else passes the folder above
        here.environment_file.touch(mode=0o600)
        yield here
    except BaseException:
        _remove(here, context)
        raise
    finally:
        # Folders that the container has made as root stay for whoever clears the work folder.
        shutil.rmtree(here.folder, ignore_errors=True)


def _run(
    here: _Run, step: FetchStepContainer, write: Callable[[bytes], None], source: str, context: FetchContext
) -> Ended:
    if not step.image or step.image.startswith("-") or "\0" in step.image:
        raise InvalidFetchStep(f"{step.image[:100]!r} is no name of an image.")
    options = ["--rm", "--name", here.name, "--env-file", str(here.environment_file)]
    options += ["--mount", f"type=bind,source={here.out.resolve()},target={_OUT}"]
    entrypoint, *rest = step.command or ("",)
    if entrypoint:
        options += ["--entrypoint", entrypoint]
    command = [here.program, "run", *options, step.image, *rest, *(step.args or ())]
    seconds = context.options.total_timeout
    try:
        return _call(command, write, seconds, context)
    except TookTooLong as error:
        raise SourceTimedOut(f"{source} ran longer than {seconds:g} s and was removed.") from error
    except CannotStart as error:
        raise InvalidFetchStep(f"{source} cannot be started: {error}.") from error


def _call(command: list[str], write: Callable[[bytes], None], seconds: float, context: FetchContext) -> Ended:
    return run(
        command,
        write,
        stdin=None,
        environment=context.environment,
        seconds=seconds,
        stderr_bytes=_STDERR_BYTES,
        chunk_bytes=context.options.chunk_bytes,
    )


def _remove(here: _Run, context: FetchContext) -> None:
    """Killing the runtime's client does not end its container. The error that led here is the one told."""
    try:
        _call([here.program, "rm", "--force", here.name], _ignore, _REMOVAL_SECONDS, context)
    except (CannotStart, TookTooLong):
        return


def _ignore(_data: bytes) -> None:
    """The names of removed containers."""


def _new_state(out: Path, source: str, context: FetchContext) -> SourceState | None:
    if (etag := _told(out / _NEW_ETAG, source)) is not None:
        return context.state(ETAG, etag)
    if (modified := _told(out / _NEW_LAST_MODIFIED, source)) is None:
        return None
    try:
        return context.state(LAST_MODIFIED, str(Timestamp.parse(modified)))
    except InvalidTimestamp as error:
        raise SourceMisbehaved(
            f"{source} gives a time of modification that is none: {error.message}"
        ) from error


def _told(path: Path, source: str) -> str | None:
    """The text of a file that the container has made; a link could lead to a file of this machine."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceMisbehaved(f"{source} leaves something else than a file as {path.name}.") from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _STATE_BYTES:
            raise SourceMisbehaved(f"{source} leaves no file, or too large a one, as {path.name}.")
        data = os.read(descriptor, _STATE_BYTES)
    finally:
        os.close(descriptor)
    try:
        return data.decode().strip() or None
    except UnicodeDecodeError as error:
        raise SourceMisbehaved(f"{source} leaves a {path.name} that is no text.") from error
