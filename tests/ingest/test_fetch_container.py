"""Containers as sources: the protocol over a runtime that runs processes, and the real one's absence."""

import dataclasses
import os
import shutil
import sys
from pathlib import Path

import pytest

from odf_core.ingest.errors import (
    ContainerFailed,
    ContainerRuntimeMissing,
    FetchNotAllowed,
    InvalidFetchStep,
    SourceMisbehaved,
    SourceTimedOut,
    SourceTooLarge,
)
from odf_core.ingest.fetch import FetchPolicy, UpToDate, fetch
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import EnvVar, FetchStepContainer
from tests.ingest import container_runtime
from tests.ingest.fetching import context_in, left_over


@pytest.fixture
def context(tmp_path):
    return make_context(tmp_path)


def make_context(tmp_path, policy=None, **options):
    tools = tmp_path / "tools"
    (tmp_path / "containers").mkdir(exist_ok=True)
    tools.mkdir(exist_ok=True)
    program = tools / "docker"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{container_runtime.__file__}" "$@"\n')
    program.chmod(0o755)
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "CONTAINERS": str(tmp_path / "containers"),
        "TOKEN": "t0ken",
    }
    return dataclasses.replace(context_in(tmp_path, policy, **options), environment=environment)


def shell(script, **more):
    return FetchStepContainer(image="sh", args=("-c", script), **more)


def state(kind, value):
    return SourceState(source_name="default", kind=kind, value=value)


def test_output_is_the_file_and_the_shared_folder_tells_state_and_more(context):
    step = shell('echo a,b; printf "v2\\n" > "$ODF_NEW_ETAG_PATH"; touch "$ODF_NEW_HAS_MORE_DATA_PATH"')
    fetched = fetch(step, None, context)
    assert fetched.path.read_bytes() == b"a,b\n"
    assert fetched.source_state == state("odf/etag", "v2")
    assert (fetched.size, fetched.event_time, fetched.has_more) == (4, None, True)
    assert left_over(context) == [fetched.path.name]


def test_without_state_and_without_more(context):
    fetched = fetch(shell("echo x"), None, context)
    assert (fetched.source_state, fetched.has_more) == (None, False)


def test_time_of_modification_as_state(context):
    step = shell('echo x; echo 2020-01-01T12:00:00+02:00 > "$ODF_NEW_LAST_MODIFIED_PATH"')
    assert fetch(step, None, context).source_state == state("odf/last-modified", "2020-01-01T10:00:00Z")
    with pytest.raises(SourceMisbehaved, match="time of modification that is none"):
        fetch(shell('echo x; echo soon > "$ODF_NEW_LAST_MODIFIED_PATH"'), None, context)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, "[] []"),
        (("odf/etag", "v1"), "[v1] []"),
        (("odf/last-modified", "2020-01-01T10:00:00Z"), "[] [2020-01-01T10:00:00Z]"),
        (("other", "x"), "[] []"),
    ],
)
def test_the_container_is_told_the_state(context, given, told):
    step = shell('echo "[$ODF_ETAG] [$ODF_LAST_MODIFIED] $ODF_BATCH_SIZE"')
    fetched = fetch(step, state(*given) if given else None, context)
    assert fetched.path.read_text() == f"{told} 10000\n"


def test_variables_of_the_manifest(context):
    step = shell(
        'echo "$A|$TOKEN|$B|$ODF_BATCH_SIZE|${CONTAINERS:-none}"',
        env=(
            EnvVar(name="A", value="1 2#3"),
            EnvVar(name="TOKEN"),
            EnvVar(name="B", value="x${{ env.TOKEN }}"),
            EnvVar(name="ODF_BATCH_SIZE", value="7"),
        ),
    )
    assert fetch(step, None, context).path.read_text() == "1 2#3|t0ken|xt0ken|10000|none\n"
    with pytest.raises(FetchNotAllowed, match="env:TOKEN"):
        fetch(step, None, dataclasses.replace(context, policy=FetchPolicy.node(["container"])))
    for name, value in (("A=B", "x"), ("", "x"), ("A", "x\ny"), ("A\nB", "x")):
        with pytest.raises(InvalidFetchStep):
            fetch(shell("true", env=(EnvVar(name=name, value=value),)), None, context)


def test_command_replaces_the_entrypoint(context):
    step = FetchStepContainer(image="sh", command=("/bin/echo", "a"), args=("b c",))
    assert fetch(step, None, context).path.read_text() == "a b c\n"


def test_up_to_date_is_no_output_and_no_new_state(context):
    known = state("odf/etag", "v1")
    assert fetch(shell("true"), known, context) == UpToDate()
    assert fetch(shell('printf "$ODF_ETAG" > "$ODF_NEW_ETAG_PATH"'), known, context) == UpToDate()
    assert left_over(context) == []
    fetched = fetch(shell('printf v2 > "$ODF_NEW_ETAG_PATH"'), known, context)
    assert (fetched.size, fetched.source_state) == (0, state("odf/etag", "v2"))
    with pytest.raises(SourceMisbehaved, match="gives data, and the state"):
        fetch(shell('echo x; printf v1 > "$ODF_NEW_ETAG_PATH"'), known, context)


def test_a_failure_has_the_last_words(context):
    with pytest.raises(ContainerFailed, match="exit code 7: no luck"):
        fetch(shell("echo half; echo no luck >&2; exit 7"), None, context)
    with pytest.raises(ContainerRuntimeMissing, match="not started; docker ended with exit code 125: Cannot"):
        fetch(FetchStepContainer(image="unreachable"), None, context)
    assert left_over(context) == []


@pytest.mark.parametrize("image", ["", "--privileged", "-v/:/host", "a\0b"])
def test_an_image_is_no_option(context, image):
    with pytest.raises(InvalidFetchStep, match="no name of an image"):
        fetch(FetchStepContainer(image=image), None, context)


@pytest.mark.parametrize(
    "script",
    [
        'ln -s /etc/hostname "$ODF_NEW_ETAG_PATH"',
        'mkdir "$ODF_NEW_ETAG_PATH"',
        'mkfifo "$ODF_NEW_ETAG_PATH"',
        'head -c 100000 /dev/zero > "$ODF_NEW_ETAG_PATH"',
        'printf "\\377" > "$ODF_NEW_ETAG_PATH"',
    ],
)
def test_the_state_is_a_small_text_in_a_file(context, script):
    with pytest.raises(SourceMisbehaved, match="new-etag"):
        fetch(shell(f"echo x; {script}"), None, context)
    assert left_over(context) == []


@pytest.mark.parametrize(
    ("script", "error", "options"),
    [
        ("sleep 100", SourceTimedOut, {"total_timeout": 1.0}),
        ("yes", SourceTooLarge, {"max_bytes": 1_000_000}),
    ],
)
def test_a_container_without_an_end_is_removed(tmp_path, script, error, options):
    context = make_context(tmp_path, **options)
    with pytest.raises(error):
        fetch(shell(script), None, context)
    assert left_over(context) == []
    assert list((tmp_path / "containers").iterdir()) == []


def test_a_machine_without_a_runtime_and_a_node_that_runs_none(tmp_path, context):
    without = dataclasses.replace(context, environment={"PATH": str(tmp_path)})
    with pytest.raises(ContainerRuntimeMissing, match="no docker or podman"):
        fetch(shell("true"), None, without)
    with pytest.raises(FetchNotAllowed, match=r"'container' in the setting ingest\.allow"):
        fetch(shell("true"), None, dataclasses.replace(context, policy=FetchPolicy.node()))


def test_the_real_docker_without_its_daemon_is_a_sentence(tmp_path):
    if shutil.which("docker") is None:
        pytest.skip("no docker on this machine")
    nowhere = {"PATH": os.environ["PATH"], "DOCKER_HOST": f"unix://{tmp_path}/none", "HOME": str(Path.home())}
    context = dataclasses.replace(context_in(tmp_path), environment=nowhere)
    with pytest.raises(
        ContainerRuntimeMissing, match=r"not started; docker ended with exit code 125: .*daemon"
    ):
        fetch(FetchStepContainer(image="alpine"), None, context)
    assert left_over(context) == []
