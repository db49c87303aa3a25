"""Keccak for this processor: assembled when it is first needed, tried against hashlib, timed.

LLVM (through llvmlite) makes machine code of `keccak.assembly` in about 20 ms for each width. What does
not give the hashes that hashlib gives is not used; where nothing remains, hashlib does everything.
"""

import ctypes
import hashlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from odf_core.sha3.keccak import FUNCTION, RATE_WORDS, STATE_WORDS, assembly

BLOCK_BYTES = 8 * RATE_WORDS
WIDTHS = (1, 4, 8)
_TRIED_BLOCKS = 40
_ROUNDS = 3

Absorb = Callable[[int, int, int], None]
"""`absorb(states, data, blocks)`, see `keccak.assembly`; addresses of memory. Others may run meanwhile."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """Absorbs blocks of `width` streams at once in `cost` seconds for one block of each."""

    width: int
    absorb: Absorb
    cost: float


class NoKernel(Exception):
    """Why there are no kernels here; never public."""


_lock = threading.Lock()


def kernels() -> tuple[Kernel, ...]:
    """Every kernel that is right here, widest last; the first call takes a quarter of a second."""
    with _lock:
        return _made()


@cache
def _made() -> tuple[Kernel, ...]:
    try:
        return tuple(_timed(width, _compiled(width)) for width in WIDTHS)
    except NoKernel:
        return ()


def _compiled(width: int) -> Absorb:
    """Raises `NoKernel` on machines that LLVM or this code does not fit."""
    if sys.byteorder != "little" or sys.maxsize < 1 << 32:
        raise NoKernel("The words of a state are taken for little endian ones of 64 bits.")
    try:
        engine = _engine(width)
    except (ImportError, OSError, RuntimeError) as error:
        raise NoKernel(f"LLVM does not make a kernel here: {error}") from error
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    function: Any = kind(engine.get_function_address(FUNCTION))
    function.engine = engine  # the code lives as long as its engine
    absorb: Absorb = function
    return absorb


def _engine(width: int) -> Any:
    import llvmlite.binding as llvm  # 0.1 s that only those pay who hash much

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(assembly(width))
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


def _timed(width: int, absorb: Absorb) -> Kernel:
    """Try the kernel on blocks that differ from stream to stream; raises `NoKernel` for a wrong hash."""
    size = _TRIED_BLOCKS * BLOCK_BYTES
    numbers = np.arange(width * size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    inputs = (numbers >> np.uint64(56)).astype(np.uint8).reshape(width, size)
    inputs[:, -BLOCK_BYTES:] = 0
    inputs[:, -BLOCK_BYTES] = 0x06  # the padding of SHA3-256, a block of its own
    inputs[:, -1] = 0x80
    addresses = np.array([row.ctypes.data for row in inputs], np.uint64)
    cost = float("inf")
    for _ in range(_ROUNDS):
        states = np.zeros((STATE_WORDS, width), np.uint64)
        started = time.perf_counter()
        absorb(states.ctypes.data, addresses.ctypes.data, _TRIED_BLOCKS)
        cost = min(cost, (time.perf_counter() - started) / _TRIED_BLOCKS)
    for lane, row in enumerate(inputs):
        expected = hashlib.sha3_256(row[:-BLOCK_BYTES].tobytes()).digest()
        if states[:4, lane].tobytes() != expected:
            raise NoKernel(f"The kernel for {width} streams gives wrong hashes.")
    return Kernel(width, absorb, cost)
