"""Stands in for docker where there is no daemon: `run` as a process of this machine, `rm` as its end.

What a container sees as its output folder is a link to the folder that is mounted there. The image's name
tells what it does: `sh` runs its arguments; `unreachable` is a daemon that does not answer.
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path


def run(arguments: list[str]) -> int:
    options: dict[str, str] = {}
    while arguments[0].startswith("--"):
        name = arguments.pop(0)
        options[name] = "" if name == "--rm" else arguments.pop(0)
    image = arguments.pop(0)
    if image == "unreachable":
        print("Cannot connect to the daemon.", file=sys.stderr)
        return 125
    mount = dict(part.split("=", 1) for part in options["--mount"].split(","))
    assert mount["type"] == "bind" and mount["target"] == "/opt/odf/out"
    lines = Path(options["--env-file"]).read_text().splitlines()
    environment = dict(line.split("=", 1) for line in lines)
    environment = {
        name: value.replace(mount["target"], mount["source"]) for name, value in environment.items()
    }
    command = [options.get("--entrypoint", "/bin/sh"), *arguments]
    container = subprocess.Popen(
        command, env={"PATH": os.environ["PATH"], **environment}, start_new_session=True
    )
    (Path(os.environ["CONTAINERS"]) / options["--name"]).write_text(str(container.pid))
    code = container.wait()
    (Path(os.environ["CONTAINERS"]) / options["--name"]).unlink(missing_ok=True)
    return code


def remove(name: str) -> int:
    note = Path(os.environ["CONTAINERS"]) / name
    if note.exists():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(note.read_text()), signal.SIGKILL)
        note.unlink()
    print(name)
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "run":
        sys.exit(run(sys.argv[2:]))
    assert sys.argv[1:3] == ["rm", "--force"]
    sys.exit(remove(sys.argv[3]))
