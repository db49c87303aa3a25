"""`pipe`: a command that reads standard input and writes standard output, without a shell."""

from pathlib import Path

from odf_core.ingest.errors import InvalidPrepareStep, PipeFailed, PipeTimedOut
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.prepare.options import PrepareContext
from odf_core.ingest.prepare.sink import sink
from odf_core.ingest.process import CannotStart, TookTooLong, run

PASSED = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"})
"""Variables that each command gets; more only by the policy, as a node's environment has secrets."""


def run_pipe(command: tuple[str, ...], path: Path, context: PrepareContext) -> Path:
    """A new file with what `command` writes when it reads `path`.

    Its whole process group is gone when this returns or raises. Raises `FetchNotAllowed`,
    `InvalidPrepareStep`, `PipeFailed`, `PipeTimedOut`, `PreparedTooLarge`.
    """
    context.policy.require(Permission.PIPE, "Running a command (`pipe`)")
    if not command or not command[0] or any("\0" in word for word in command):
        raise InvalidPrepareStep("The `pipe` step has no command, or one with a NUL character.")
    what = f"The command {command[0][:200]!r} of the `pipe` step"
    options = context.options
    with path.open("rb") as source, sink(what, context) as out:
        try:
            ended = run(
                command,
                out.write,
                stdin=source,
                environment=_environment(context),
                seconds=options.pipe_timeout,
                stderr_bytes=options.pipe_stderr_bytes,
                chunk_bytes=options.chunk_bytes,
            )
        except CannotStart as error:
            raise InvalidPrepareStep(f"{what} cannot be started: {error}.") from error
        except TookTooLong as error:
            raise PipeTimedOut(
                f"{what} ran longer than {options.pipe_timeout:g} s and was killed."
            ) from error
        if ended.exit_code != 0:
            raise PipeFailed(f"{what} {ended}", extras={"exit_code": ended.exit_code})
    return out.path


def _environment(context: PrepareContext) -> dict[str, str]:
    passed = {name: value for name, value in context.environment.items() if name in PASSED}
    return passed | context.policy.variables_of(context.environment)
