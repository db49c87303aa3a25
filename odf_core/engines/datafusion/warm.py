"""`python -m odf_core.engines.datafusion.warm`: calls about transformations, each in a fork of this process.

Loading DataFusion takes longer than a small step does: here it is loaded once. A line on standard input is a
`StepRequest`, a line on standard output a `StepAnswer`, both JSON. Each call is answered by a fork that
raises the fences for the files of this call; nothing of a call remains. Ends with its standard input.
"""

import os
import sys
from pathlib import Path

import msgspec

from odf_core.engines.contract import require_identity, require_protocol
from odf_core.engines.datafusion import step
from odf_core.engines.datafusion.calls import Head, StepAnswer, StepRequest
from odf_core.engines.datafusion.child import fence_off
from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.identity import datafusion_identity
from odf_core.errors import OdfError

_WORDS = 300


def main() -> None:
    """Answers requests until there are no more."""
    for line in sys.stdin.buffer:
        try:
            answer = _answered(_read(line))
        except OdfError as error:
            answer = msgspec.json.encode(StepAnswer(error=error.diagnostics()))
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


def _read(line: bytes) -> StepRequest:
    """The call, if it is one for this engine: the protocol first, for others may look different."""
    try:
        require_protocol(msgspec.json.decode(line, type=Head).protocol)
        request = msgspec.json.decode(line, type=StepRequest)
    except msgspec.MsgspecError as error:
        raise InvalidEngineRequest(f"The call cannot be read: {error}.") from error
    if request.identity is not None:
        require_identity(request.identity, datafusion_identity())
    return request


def _answered(request: StepRequest) -> bytes:
    """What a fork says, or how it ended."""
    reader, writer = os.pipe()
    words = Path(request.folder) / "words"
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(request, writer, words)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0 and content:
        return content
    said = words.read_bytes()[-_WORDS:].decode(errors="replace").strip().replace("\n", " ")
    return msgspec.json.encode(StepAnswer(died=f"{os.waitstatus_to_exitcode(status)}: {said or 'no words'}"))


def _work(request: StepRequest, writer: int, words: Path) -> None:
    """The fork: never returns."""
    status = 1
    try:
        os.dup2(os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        os.chdir(request.folder)
        os.environ.update(HOME=request.folder, TMPDIR=request.folder)
        fence_off([Path(file) for file in request.files], Path(request.folder), request.memory_bytes)
        try:
            told = step.answer(request)
        except OdfError as error:
            told = StepAnswer(error=error.diagnostics())
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(msgspec.json.encode(told))
        status = 0
    except BaseException as error:  # noqa: BLE001 - a fork must not go on with its parent's work
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
