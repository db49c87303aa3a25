"""What `odf engine install` and `remove` do, and leave when something goes wrong."""

import subprocess
import sys
import tarfile
from pathlib import Path

import psutil
import pytest

from odf_core.engines.environments import install
from odf_core.engines.environments.asking import ask
from odf_core.engines.environments.errors import (
    EngineDoesNotRun,
    EngineEnvironmentNotFound,
    EngineInstallFailed,
    EngineRecordUnreadable,
    EngineSourceInvalid,
    EngineTellsNothing,
)
from odf_core.engines.environments.install import Installer, without_spark
from odf_core.engines.environments.records import Environment, Told, python_of
from odf_core.engines.environments.registry import VARIABLE, EngineEnvironments, default_folder
from odf_core.engines.environments.sources import open_source, own_source
from odf_core.engines.environments.venv import run_pip, without_addresses
from odf_core.engines.errors import EngineProtocolUnsupported
from tests.engine_install.conftest import never
from tests.engine_install.releases import ROOT, left, release


def installer(folder: Path, said: list[str] | None = None) -> Installer:
    return Installer(EngineEnvironments(folder), never, ([] if said is None else said).append)


def test_what_pip_says_is_told_without_addresses(tmp_path, monkeypatch):
    """A registry that is not there, under an address with a password."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:password@127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    said: list[str] = []
    with pytest.raises(EngineInstallFailed, match=r"odf-node==9\.9\.9") as raised:
        installer(tmp_path / "engines", said).install("odf-node==9.9.9")
    for text in (raised.value.message, *said):
        assert not any(part in text for part in ("password", "user:", "127.0.0.1", ":9"))
    assert left(tmp_path / "engines") == []


@pytest.mark.parametrize(
    "line",
    [
        "Downloading https://user:password@registry.example/simple/x.whl (3 kB)",
        "HTTPSConnectionPool(host='registry.example', port=443): Max retries exceeded",
        "WARNING: The repository located at registry.example is not a trusted or secure host",
        "Failed to resolve 'registry.example' ([Errno -2] Name or service not known)",
    ],
)
def test_addresses_are_left_out(line):
    assert "registry" not in without_addresses(line)
    assert "<address>" in without_addresses(line)


def test_what_runs_here_can_be_installed_from_its_tree():
    assert own_source() == str(ROOT)


def test_what_pip_is_asked_for_and_a_spark_that_does_not_run(tmp_path, monkeypatch):
    """With hashes whatever is locked; another PySpark without, and only if it runs is the engine kept."""
    asked: list[list[str]] = []

    def run(python: Path, arguments: list[str], say: object) -> None:
        file = python.with_name("lock.txt")
        hashed = "--require-hashes" in arguments
        asked.append([item for item in arguments if not item.startswith("/")] + [file.read_text()] * hashed)

    def make(folder: Path, say: object) -> Path:
        python = python_of(folder)
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
        return python

    def refuse(environment: Environment) -> None:
        raise EngineDoesNotRun("It does not.")

    monkeypatch.setattr(install, "run_pip", run)
    monkeypatch.setattr(install, "make_venv", make)
    monkeypatch.setattr(install, "ask", lambda python: Told(protocol=1))
    folder = tmp_path / "engines"
    with pytest.raises(EngineDoesNotRun):
        Installer(EngineEnvironments(folder), refuse).install(str(ROOT), spark="4.0.1")
    assert left(folder) == []
    lock, build = ((ROOT / name).read_text() for name in ("requirements-image.txt", "requirements-build.txt"))
    hashed = ["install", "--require-hashes", "-r"]
    last = ["install", "--no-deps", "--no-build-isolation"]
    assert asked == [
        [*hashed, without_spark(lock)],
        ["install", "pyspark==4.0.1"],
        [*hashed, build],
        last,
    ]
    asked.clear()
    done = Installer(EngineEnvironments(folder), refuse).install(str(ROOT))
    assert done.is_new and asked == [[*hashed, lock], [*hashed, build], last]
    asked.clear()
    assert not Installer(EngineEnvironments(folder), refuse).install(str(ROOT)).is_new
    assert asked == []


def test_what_is_no_source(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "odf_node-1.whl").write_text("no archive")
    (tmp_path / "odf_node-1.tar.gz").write_text("no archive")
    (tmp_path / "other-1.whl").write_text("")
    tried = ["nothing-here", "-r x", "odf-node @ http://x", "requests==2.0", "odf-node>=1"]
    tried += [
        str(tmp_path / name)
        for name in ("other", "notes.txt", "odf_node-1.whl", "odf_node-1.tar.gz", "other-1.whl")
    ]
    for source in tried:
        with pytest.raises(EngineSourceInvalid):
            installer(tmp_path / "engines").install(source)
    (other / "pyproject.toml").write_text('[project]\nname = "something"\n')
    with pytest.raises(EngineSourceInvalid, match="something"):
        installer(tmp_path / "engines").install(str(other))
    with pytest.raises(EngineSourceInvalid, match="no version of Spark"):
        installer(tmp_path / "engines").install(str(ROOT), spark="4.0 --pre")
    assert left(tmp_path / "engines") == []


def test_a_release_from_before_this_one(tmp_path):
    wheel = release(tmp_path, "0.0.1", left_out="odf_core/engines/tell.py")
    with pytest.raises(EngineTellsNothing, match="from before"):
        installer(tmp_path / "engines").install(str(wheel))
    assert left(tmp_path / "engines") == []


@pytest.mark.parametrize(
    ("says", "error", "words"),
    [
        ("nothing", EngineTellsNothing, "does not tell"),
        ('{"protocol": 1, "engines": []}', EngineTellsNothing, "no engine"),
        ('{"protocol": 2, "program": "9", "engines": []}', EngineProtocolUnsupported, "too new"),
        ('{"protocol": 0, "engines": []}', EngineProtocolUnsupported, "too old"),
    ],
)
def test_an_environment_that_says_something_else(tmp_path, says, error, words):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{says}'\n")
    python.chmod(0o755)
    with pytest.raises(error, match=words):
        ask(python)


def test_what_a_killed_installation_left_is_swept_and_two_wait_for_each_other(tmp_path):
    folder = tmp_path / "engines"
    (folder / "half" / "python").mkdir(parents=True)
    assert EngineEnvironments(folder).all() == []
    said: list[str] = []
    program = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline()

        def say(text: str) -> None:
            said.append(text)
            other.stdin.close()

        with pytest.raises(EngineEnvironmentNotFound):
            EngineEnvironments(folder).remove("1", say, never)
    assert said == ["waiting for another installation"]
    assert left(folder) == []


def test_a_record_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "engine.json").write_text("{")
    with pytest.raises(EngineRecordUnreadable, match="Remove its folder"):
        EngineEnvironments(tmp_path).all()


def test_the_folder_is_named_by_the_environment(tmp_path):
    assert default_folder({VARIABLE: str(tmp_path)}) == tmp_path
    assert default_folder({}).parts[-2:] == ("odf", "engines")


def test_locks_of_folders_sdists_and_wheels(tmp_path):
    lock = (ROOT / "requirements-image.txt").read_text()
    with open_source(ROOT) as source:
        assert source.lock == lock and source.build_lock == (ROOT / "requirements-build.txt").read_text()
    other = without_spark(lock)
    kept = [line for line in lock.splitlines() if line.startswith(("pyspark", "py4j"))]
    assert len(kept) == 2 and not any(line in other for line in kept)
    assert lock.count("--hash=") - other.count("--hash=") == 3
    assert lock.count("==") - 2 == other.count("==")
    with tarfile.open(tmp_path / "odf_node-1.tar.gz", "w:gz") as archive:
        for name in ("pyproject.toml", "requirements-image.txt", "odf_core/engines/tell.py"):
            archive.add(ROOT / name, f"odf_node-1/{name}")
    with open_source(tmp_path / "odf_node-1.tar.gz") as source:
        assert source.lock == lock and source.build_lock is None and source.path.is_dir()
    assert not source.path.exists()
    with open_source(release(tmp_path, "0.3.0", lock=lock)) as source:
        assert source.lock == lock
    with open_source(release(tmp_path, "0.3.1", lock="pyspark==4.3.0\n")) as source:
        assert source.lock is None, "names without hashes are no lock"


def test_a_wheel_of_this_project_brings_its_lock(tmp_path):
    build = "import hatchling.build, sys; hatchling.build.build_wheel(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, timeout=120
    )
    (wheel,) = tmp_path.iterdir()
    with open_source(wheel) as source:
        assert source.lock == (ROOT / "requirements-image.txt").read_text()


def test_pip_that_is_stopped_leaves_no_process():
    """What ends the installation (Ctrl-C, say) ends pip, and the process that pip has started."""

    class Stopped(Exception):
        pass

    def say(text: str) -> None:
        raise Stopped

    before = psutil.Process().children(recursive=True)
    with pytest.raises(Stopped):
        run_pip(Path(sys.executable), ["list"], say)
    after = [item for item in psutil.Process().children(recursive=True) if item not in before]
    assert [item.cmdline() for item in after if item.status() != psutil.STATUS_ZOMBIE] == []
