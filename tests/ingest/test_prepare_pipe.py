"""Commands of a manifest: what they get, what they may not, and that none outlives its step."""

import dataclasses
import os
import sys
import time

import pytest

from odf_core.ingest.errors import (
    FetchNotAllowed,
    InvalidPrepareStep,
    PipeFailed,
    PipeTimedOut,
    PreparedTooLarge,
)
from odf_core.ingest.fetch import FetchPolicy
from odf_core.ingest.prepare import PrepareContext, PrepareOptions, prepare
from odf_core.metadata.sources import PrepStepPipe


def context_in(tmp_path, policy=None, **options):
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return PrepareContext(
        workdir=work,
        policy=policy or FetchPolicy.person(),
        options=PrepareOptions(**options),
        environment=dict(os.environ),
    )


def pipe(context, *command, data=b"b\na\n"):
    source = context.workdir.parent / "source"
    source.write_bytes(data)
    return prepare([PrepStepPipe(command=command)], source, context)


def python(context, code, data=b""):
    return pipe(context, sys.executable, "-c", code, data=data)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:  # one that nobody has reaped yet counts as gone
        return stat.read().rpartition(")")[2].split()[0] != "Z"


def is_gone(pid):
    until = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not is_alive(pid)


def test_a_command_reads_input_and_writes_output(tmp_path):
    assert pipe(context_in(tmp_path), "sort").read_bytes() == b"a\nb\n"


def test_there_is_no_shell(tmp_path):
    assert pipe(context_in(tmp_path), "echo", "$HOME; ls | cat").read_bytes() == b"$HOME; ls | cat\n"


def test_more_than_a_pipe_holds_passes_in_both_directions(tmp_path):
    data = os.urandom(3 << 20)
    assert pipe(context_in(tmp_path), "cat", data=data).read_bytes() == data


def test_steps_are_chained(tmp_path):
    context = context_in(tmp_path)
    source = tmp_path / "source"
    source.write_bytes(b"3\n1\n2\n")
    steps = [PrepStepPipe(command=("sort",)), PrepStepPipe(command=("head", "-n", "1"))]
    assert prepare(steps, source, context).read_bytes() == b"1\n"
    assert len(list(context.workdir.iterdir())) == 1


def test_a_failure_has_the_exit_code_and_the_last_words(tmp_path):
    context = context_in(tmp_path)
    with pytest.raises(PipeFailed, match=r"exit code 3: line 5 / .* line 9\.$") as raised:
        python(
            context,
            "import sys; print('x'); [print('line', i, file=sys.stderr) for i in range(10)]; sys.exit(3)",
        )
    assert raised.value.extras == {"exit_code": 3}
    with pytest.raises(PipeFailed, match="exit code 1 and said nothing"):
        pipe(context, "false")
    with pytest.raises(PipeFailed, match="ended by signal 9"):
        python(context, "import os; os.kill(os.getpid(), 9)")
    assert list(context.workdir.iterdir()) == []


def test_a_command_that_is_none(tmp_path):
    context = context_in(tmp_path)
    for command in (("no-such-command-here",), ("",), (), ("a\0b",), (str(tmp_path),)):
        with pytest.raises(InvalidPrepareStep):
            pipe(context, *command)
    assert list(context.workdir.iterdir()) == []


@pytest.mark.parametrize("how", ["sleeps", "has closed its outputs", "talks"])
def test_a_command_without_an_end_is_killed_with_its_children(tmp_path, how):
    context = context_in(tmp_path, pipe_timeout=1.0)
    act = {
        "sleeps": "time.sleep(100)",
        "has closed its outputs": "os.close(1); os.close(2); time.sleep(100)",
        "talks": "\nwhile True: print('x', flush=True); time.sleep(0.01)",
    }[how]
    code = (
        "import os, subprocess, time; child = subprocess.Popen(['sleep', '100']);"
        f"open({str(tmp_path / 'pids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}'); " + act
    )
    if how == "talks":
        code = code.replace("; \nwhile", "\nwhile")
    with pytest.raises(PipeTimedOut, match="longer than 1 s and was killed"):
        python(context, code)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert all(is_gone(pid) for pid in pids)
    assert list(context.workdir.iterdir()) == []


def test_a_child_left_behind_neither_holds_the_step_up_nor_lives_on(tmp_path):
    context = context_in(tmp_path, pipe_timeout=60.0)
    code = "import subprocess; print(subprocess.Popen(['sleep', '100']).pid)"
    began = time.monotonic()
    made = python(context, code)
    assert time.monotonic() - began < 30
    assert is_gone(int(made.read_bytes()))


def test_output_is_bounded(tmp_path):
    context = context_in(tmp_path, max_expanded_bytes=1_000_000)
    with pytest.raises(
        PreparedTooLarge, match="'yes' of the `pipe` step makes more than the limit of 1000000"
    ):
        pipe(context, "yes")
    assert list(context.workdir.iterdir()) == []


def test_last_words_are_bounded(tmp_path):
    code = "import sys; sys.stderr.write('x' * 5_000_000); sys.exit(1)"
    with pytest.raises(PipeFailed) as raised:
        python(context_in(tmp_path), code)
    assert len(raised.value.message) < 2000


def test_a_command_that_reads_nothing_is_no_failure(tmp_path):
    assert pipe(context_in(tmp_path), "echo", "x", data=b"y" * 1_000_000).read_bytes() == b"x\n"


def test_a_node_runs_no_commands_and_where_it_does_keeps_its_secrets(tmp_path):
    with pytest.raises(FetchNotAllowed, match=r"'pipe' in the setting ingest\.allow"):
        pipe(context_in(tmp_path, FetchPolicy.node()), "cat")
    allowed = context_in(tmp_path, FetchPolicy.node(["pipe", "env:SHOWN"]))
    allowed = dataclasses.replace(
        allowed, environment={"PATH": os.environ["PATH"], "ODF_DATABASE__URL": "secret", "SHOWN": "1"}
    )
    told = pipe(allowed, "env").read_text()
    assert "secret" not in told
    assert "SHOWN=1" in told
