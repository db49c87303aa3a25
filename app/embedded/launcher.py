"""What every child is started through: it ties the child's life to the node's, then becomes it.

Run as a script (`python -I -S launcher.py …`), never imported by the node, and using nothing but the
standard library. A script instead of a `preexec_fn`, because running Python between fork and exec of
a process with threads can dead-lock, and a child is restarted while the node is serving.

Arguments: MODE SIGNAL GRACE PARENT UNROOT LISTEN_FD COMMAND…

MODE `exec` (Linux): asks the kernel to send SIGNAL when the parent *thread* ends (PR_SET_PDEATHSIG),
then replaces itself by COMMAND. MODE `pipe` (elsewhere): stays as the parent of COMMAND with the read
end of a pipe as standard input; at its end SIGNAL goes to COMMAND, and SIGKILL after GRACE seconds.
UNROOT 1: enter a user namespace in which this user is 65534, since PostgreSQL refuses uid 0.
LISTEN_FD >= 0: this listening socket becomes descriptor 3 with LISTEN_FDS and LISTEN_PID set.
"""

import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path

EXIT_NO_NAMESPACE = 97
EXIT_PARENT_GONE = 98
EXIT_CANNOT_EXEC = 126

_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_FIRST_LISTEN_FD = 3
_NOBODY = 65534


def leave_root() -> None:
    """Map uid and gid 0 to 65534 in a user namespace of our own: no chmod, no useradd, files stay root's."""
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if libc.unshare(_CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{_NOBODY} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{_NOBODY} {gid} 1")
    except OSError as error:
        sys.stderr.write(f"no user namespace to leave root by: {error}\n")
        os._exit(EXIT_NO_NAMESPACE)


def die_with(parent: int, signum: int) -> None:
    """Have the kernel signal this process, and what it becomes, when `parent` ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signum, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(EXIT_PARENT_GONE)  # it ended before the kernel knew whom to tell


def take_socket(descriptor: int) -> None:
    """Put the node's listening socket where socket activation looks for it."""
    if descriptor == _FIRST_LISTEN_FD:
        os.set_inheritable(descriptor, True)
    elif descriptor >= 0:
        os.dup2(descriptor, _FIRST_LISTEN_FD, inheritable=True)
        os.close(descriptor)


def become(command: list[str], listens: bool) -> None:
    if listens:
        os.environ["LISTEN_FDS"] = "1"
        os.environ["LISTEN_PID"] = str(os.getpid())
    try:
        os.execv(command[0], command)  # noqa: S606
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]}: {error}\n")
        sys.stderr.flush()
        os._exit(EXIT_CANNOT_EXEC)


class Watcher:
    """MODE `pipe`: waits for the end of the child or of the node, whichever comes first."""

    def __init__(self, child: int, signum: int, grace: float) -> None:
        self.child, self.signum, self.grace = child, signum, grace
        self.asked = False
        self.wake, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(self.wake, False)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for forwarded in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            signal.signal(forwarded, self.forward)

    def forward(self, signum: int, _frame: object) -> None:
        self.asked = True
        self.send(signum)

    def send(self, signum: int) -> None:
        try:
            os.kill(self.child, signum)
        except ProcessLookupError:
            self.asked = True  # it has ended already; `ended` will reap it

    def ended(self) -> int | None:
        pid, status = os.waitpid(self.child, os.WNOHANG)
        return None if pid == 0 else os.waitstatus_to_exitcode(status)

    def sleep(self, seconds: float | None, also: list[int]) -> list[int]:
        ready, _, _ = select.select([self.wake, *also], [], [], seconds)
        if self.wake in ready:
            os.read(self.wake, 4096)
        return ready

    def run(self) -> int:
        node, deadline = [0], None
        while (code := self.ended()) is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = self.sleep(left, node)
            if 0 in ready and not os.read(0, 4096):
                node = []
                deadline = time.monotonic() + (0.0 if self.asked else self.grace)
                self.send(self.signum)
            if deadline is not None and time.monotonic() >= deadline:
                self.send(signal.SIGKILL)
                deadline = None
        return code


def watch(command: list[str], signum: int, grace: float, listens: bool) -> int:
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        become(command, listens)
    code = Watcher(child, signum, grace).run()
    return code if code >= 0 else 128 - code


def main(argv: list[str]) -> int:
    mode, signum, grace, parent, unroot, descriptor = argv[1:7]
    command, listens = argv[7:], int(descriptor) >= 0
    take_socket(int(descriptor))
    if unroot == "1":
        leave_root()
    if mode == "pipe":
        return watch(command, int(signum), float(grace), listens)
    die_with(int(parent), int(signum))
    become(command, listens)
    return EXIT_CANNOT_EXEC


if __name__ == "__main__":
    sys.exit(main(sys.argv))
