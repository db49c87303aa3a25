"""A process of DataFusion: asked once over its standard input, and ended after its deadline."""

import subprocess
from typing import TypeVar

import msgspec

from odf_core.engines.errors import EngineDied, EngineTimeout
from odf_core.engines.program import OWN, EngineProgram

_WORDS = 300
_Answer = TypeVar("_Answer")


def run_child(
    module: str,
    content: bytes,
    answer: type[_Answer],
    folder: str,
    seconds: float,
    memory_bytes: int,
) -> _Answer:
    """What the program `module` answers to `content`; it works in `folder`.

    Raises `EngineTimeout`, `EngineDied`.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a module of ours
            OWN.command(module),
            input=content,
            capture_output=True,
            timeout=seconds,
            env=environment(folder),
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise EngineTimeout(
            f"The query took longer than {seconds:.0f} s and was ended.", extras={"seconds": seconds}
        ) from error
    try:
        return msgspec.json.decode(done.stdout, type=answer)
    except msgspec.MsgspecError as error:
        words = done.stderr.decode(errors="replace").strip()[-_WORDS:].replace("\n", " ")
        raise EngineDied(
            f"The query's process ended with status {done.returncode}, perhaps for want of memory "
            f"({memory_bytes} bytes are allowed): {words or 'it said nothing'}."
        ) from error


def environment(folder: str, program: EngineProgram = OWN) -> dict[str, str]:
    """Nothing of the user's secrets."""
    return {
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        **program.paths(),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
