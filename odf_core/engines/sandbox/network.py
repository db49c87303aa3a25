"""A network namespace of its own: no address but loopback, while sockets in folders still work (Linux)."""

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_INTERFACE = struct.Struct("16sH14x")


def leave_network() -> str:
    """Moves this process (which has one thread) out of the machine's network.

    Gives the name of the means, or `none (why)`.
    """
    if sys.platform != "linux":
        return "none (only Linux has network namespaces)"
    libc = ctypes.CDLL(None, use_errno=True)
    means = "network namespace"
    if libc.unshare(_CLONE_NEWNET) != 0:
        user, group = os.geteuid(), os.getegid()
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
            return f"none (the system allows no network namespace: {os.strerror(ctypes.get_errno())})"
        _keep_identity(user, group)
        means = "network namespace within a user namespace"
    _raise_loopback()
    return means


def _keep_identity(user: int, group: int) -> None:
    """In a new user namespace everybody is nobody until it is said who is who."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        found = fcntl.ioctl(sock, _SIOCGIFFLAGS, _INTERFACE.pack(b"lo", 0))
        _, flags = _INTERFACE.unpack(found)
        fcntl.ioctl(sock, _SIOCSIFFLAGS, _INTERFACE.pack(b"lo", flags | _IFF_UP))
