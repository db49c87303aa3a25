"""The supervisor with services that misbehave as the real ones won't; logs and their rotation."""

import signal
from pathlib import Path

import pytest

from app.embedded import supervisor as module
from app.embedded.child import Child, ChildSpec, child_environment, log_tail, rotate
from app.embedded.errors import ServiceBinaryMissing, ServiceKeepsFailing, ServiceStartFailed
from app.embedded.supervisor import Supervisor
from odf_core.errors import InternalError, OdfError
from tests.embedded.tools import wait_until


class FakeService:
    """A shell script as a service; `fault` is raised by `start()` from the second start on."""

    name = "fake"

    def __init__(self, folder: Path, script: str, fault: Exception | None = None) -> None:
        self.log = folder / "fake.log"
        self.child: Child | None = None
        self.starts = 0
        self._script, self._fault = script, fault

    def start(self) -> None:
        self.starts += 1
        if self._fault is not None and self.starts > 1:
            raise self._fault
        command = ["/bin/sh", "-c", self._script]
        self.child = Child(ChildSpec(self.name, command, child_environment({}), self.log, signal.SIGKILL, ()))

    def probe(self) -> bool:
        return "ready" in log_tail(self.log)

    def stop(self) -> bool:
        child, self.child = self.child, None
        return child.stop() if child else True

    def why(self, code: int | None) -> Exception | None:
        return ServiceBinaryMissing("told by its code") if code == 42 else None


def dies_when_told(folder: Path) -> str:
    return f"echo ready; until [ -e '{folder}/die' ]; do sleep 0.01; done; exit 1"


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESTART_SECONDS", (0.01,))


def test_a_service_that_ends_while_starting_is_told_with_its_last_words(tmp_path: Path) -> None:
    service = FakeService(tmp_path, "echo no such disk; exit 3")
    with pytest.raises(ServiceStartFailed, match="no such disk") as failed:
        Supervisor([service]).start()
    assert failed.value.extras["exit"] == 3
    assert service.child is None


def test_an_exit_code_may_tell_more(tmp_path: Path) -> None:
    with pytest.raises(ServiceBinaryMissing, match="told by its code"):
        Supervisor([FakeService(tmp_path, "exit 42")]).start()


def test_a_service_that_never_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "START_SECONDS", 0.0)
    service = FakeService(tmp_path, "sleep 1000")
    with pytest.raises(ServiceStartFailed, match="did not answer in time"):
        Supervisor([service]).start()
    assert service.child is None


def test_one_that_keeps_dying_is_given_up(tmp_path: Path) -> None:
    told: list[OdfError] = []
    service = FakeService(tmp_path, dies_when_told(tmp_path))
    supervisor = Supervisor([service], told.append)
    supervisor.start()
    (tmp_path / "die").touch()
    wait_until(lambda: bool(told), "the supervisor gives up")
    supervisor.stop()
    assert isinstance(supervisor.failure, ServiceKeepsFailing)
    assert told == [supervisor.failure]
    assert service.starts == module.MOST_EXITS + 1
    assert not supervisor.is_healthy()


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), RuntimeError("a bug")])
def test_a_fault_of_the_supervisor_itself_is_told(tmp_path: Path, fault: Exception) -> None:
    told: list[OdfError] = []
    supervisor = Supervisor([FakeService(tmp_path, dies_when_told(tmp_path), fault)], told.append)
    supervisor.start()
    (tmp_path / "die").touch()
    wait_until(lambda: bool(told), "the supervisor tells")
    supervisor.stop()
    assert isinstance(told[0], OdfError)
    assert isinstance(told[0], InternalError) == isinstance(fault, RuntimeError)
    assert str(fault.args[-1]) in told[0].message


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    spec = ChildSpec("x", ["/no/such/program"], child_environment({}), tmp_path / "log", signal.SIGKILL, ())
    child = Child(spec)
    wait_until(lambda: child.exit_code() is not None, "the launcher ends")
    assert child.exit_code() == 126
    assert "cannot run /no/such/program" in log_tail(tmp_path / "log")


def test_logs_are_cut_and_one_older_file_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"a" * 100)
    rotate(log, limit=100)
    assert not (tmp_path / "x.log.1").exists()
    rotate(log, limit=99)
    assert (log.stat().st_size, (tmp_path / "x.log.1").stat().st_size) == (0, 100)
    rotate(tmp_path / "missing.log")


def test_a_child_writes_on_after_its_log_was_cut(tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f"echo ready; until [ -e '{go}' ]; do sleep 0.01; done; echo after; sleep 1000"
    log = tmp_path / "x.log"
    child = Child(ChildSpec("x", ["/bin/sh", "-c", script], child_environment({}), log, signal.SIGKILL, ()))
    wait_until(lambda: log_tail(log) == "ready", "it says so")
    rotate(log, limit=1)
    assert log.stat().st_size == 0
    go.touch()
    wait_until(lambda: log.read_bytes() == b"after\n", "it goes on at the start of the file")
    assert child.stop() is False
