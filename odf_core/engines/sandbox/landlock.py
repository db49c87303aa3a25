"""Landlock: this process and its children can open files below given folders only (Linux 5.13 and later),
and connect to given TCP ports only (Linux 6.7 and later).

It needs no privilege and cannot be taken back. System calls and numbers are those of the kernel's
interface; rights that the running kernel does not know are left out.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH, _RULE_NET_PORT = 1, 2
_CONNECT_TCP = 1 << 1
_PORTS_SINCE = 4
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = (1 << 13) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNALS = 1 << 0, 1 << 1


def restrict_files(
    readable: Iterable[Path],
    writable: Iterable[Path],
    listable: Iterable[Path],
    ports: Collection[int] | None = None,
) -> str:
    """Allows reading (and running) below `readable`, everything below `writable`, names below `listable`,
    and connecting to `ports` (None: to all, and so it is where `restricts_ports` says no).

    Gives `landlock <version>`, or `none (why)`.
    """
    if sys.platform != "linux":
        return "none (only Linux has Landlock)"
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    if version < 1:
        return f"none (the kernel offers no Landlock: {os.strerror(ctypes.get_errno())})"
    handled = _rights(version)
    ports = ports if version >= _PORTS_SINCE else None
    ruleset = _create(libc, version, handled, 0 if ports is None else _CONNECT_TCP)
    try:
        for path in readable:
            _allow(libc, ruleset, path, _READ & handled)
        for path in listable:
            _allow(libc, ruleset, path, _READ_DIR)
        for path in writable:
            _allow(libc, ruleset, path, handled)
        for port in ports or ():
            rule = struct.pack("=QQ", _CONNECT_TCP, port)
            _check(libc.syscall(_ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0))
        _check(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _check(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    return f"landlock {version}"


def restricts_ports() -> bool:
    """Whether this machine's Landlock knows of ports."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version: int = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return version >= _PORTS_SINCE


def _rights(version: int) -> int:
    rights = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def _create(libc: ctypes.CDLL, version: int, handled: int, network: int) -> int:
    """A ruleset: rights on files and `network`, and from version 6 on no signals to the outside."""
    scope = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNALS if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, network, scope)[
        : 24 if version >= 6 else 16 if version >= 4 else 8
    ]
    descriptor: int = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    _check(descriptor)
    return descriptor


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        rights = rights if path.is_dir() else rights & _OF_FILES
        if not rights:
            return
        rule = struct.pack("=Qi", rights, opened)
        _check(libc.syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0))
    finally:
        os.close(opened)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
