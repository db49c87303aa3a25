"""SHA3-256 of many streams at once gives what hashlib gives, whatever the pieces and whoever asks."""

import hashlib
import random
import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.sha3 import WORTH_A_KERNEL_BYTES, are_combined, hashers, kernel, new_sha3, update_all
from odf_core.sha3.combiner import Combiner
from odf_core.sha3.hashers import StreamHasher
from odf_core.sha3.keccak import assembly, rotations, round_constants
from odf_core.sha3.kernel import BLOCK_BYTES, WIDTHS, Absorb, NoKernel, kernels

EDGES = (0, 1, 8, 135, 136, 137, 271, 272, 273, 1000, 136 * 41, 100_003)


@pytest.fixture
def combined() -> Combiner:
    if not kernels():
        pytest.skip("LLVM makes no kernel on this machine; hashlib does everything")
    return Combiner(kernels())


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed * 1_000_003 + size).randbytes(size)


def expected(data: bytes) -> bytes:
    return hashlib.sha3_256(data).digest()


def test_the_constants_are_those_of_the_standard() -> None:
    constants = list(round_constants())
    assert constants[:4] == [0x1, 0x8082, 0x800000000000808A, 0x8000000080008000]
    assert constants[-1] == 0x8000000080008008
    assert sorted(rotations().values()) == sorted(
        [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14]
    )


def test_every_width_is_made_here() -> None:
    """On the machines that we know there is a kernel; a silent fall-back would hide its loss."""
    import llvmlite.binding as llvm

    if llvm.get_process_triple().split("-")[0] not in ("x86_64", "aarch64", "arm64"):
        pytest.skip("no kernel was ever tried on this kind of machine")
    assert [made.width for made in kernels()] == list(WIDTHS)


@pytest.mark.parametrize("size", EDGES)
def test_sizes_around_a_block(combined: Combiner, size: int) -> None:
    data = noise(size)
    hasher = StreamHasher(combined)
    hasher.update(data)
    assert hasher.digest() == expected(data)
    assert hasher.digest() == expected(data)  # asking changes nothing
    hasher.update(b"more")
    assert hasher.digest() == expected(data + b"more")


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40])
def test_numbers_of_streams_of_different_lengths(combined: Combiner, number: int) -> None:
    streams = [noise(EDGES[index % len(EDGES)] * (1 + index % 3), index) for index in range(number)]
    made = [StreamHasher(combined) for _ in streams]
    update_all((hasher, [data]) for hasher, data in zip(made, streams, strict=True))
    assert [hasher.digest() for hasher in made] == [expected(data) for data in streams]


@given(st.lists(st.lists(st.binary(max_size=600), max_size=6), max_size=12), st.integers(1, 3))
def test_pieces_of_any_size(streams: list[list[bytes]], repeats: int) -> None:
    if not kernels():
        return
    combiner = Combiner(kernels())
    made = [StreamHasher(combiner) for _ in streams]
    for _ in range(repeats):
        update_all(zip(made, streams, strict=True))
    for hasher, parts in zip(made, streams, strict=True):
        assert hasher.digest() == expected(b"".join(parts) * repeats)


def test_whatever_has_a_buffer(combined: Combiner) -> None:
    data = noise(5000)
    buffers = [data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), pa.py_buffer(data)]
    for buffer in buffers:
        hasher = StreamHasher(combined)
        hasher.update(buffer)
        assert hasher.digest() == expected(data)
    with pytest.raises(BufferError, match="contiguous"):
        StreamHasher(combined).update(memoryview(data)[::2])


def test_threads_share_their_runs(combined: Combiner) -> None:
    """Twelve threads with streams of their own: every hash right, whoever ran the kernel."""
    found: dict[int, bool] = {}

    def work(number: int) -> None:
        hasher, whole = StreamHasher(combined), hashlib.sha3_256()
        for step in range(60):
            piece = noise(1 + (number * 7919 + step * 104_729) % 20_000, number)
            hasher.update(piece)
            whole.update(piece)
        found[number] = hasher.digest() == whole.digest()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(12), True)


def test_a_failed_run_reaches_everybody_and_ends(combined: Combiner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody goes on with a state that a run has left half-way."""

    def broken(*_: object) -> None:
        raise MemoryError

    failures: list[BaseException] = []

    def work() -> None:
        try:
            StreamHasher(combined).update(bytes(10_000))
        except MemoryError as error:
            failures.append(error)

    monkeypatch.setattr("odf_core.sha3.combiner.absorb", broken)
    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(failures) == 5
    monkeypatch.undo()
    hasher = StreamHasher(combined)
    hasher.update(b"a" * 1000)
    assert hasher.digest() == expected(b"a" * 1000)


@pytest.fixture
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if nothing had been hashed yet."""
    monkeypatch.setattr(hashers._Expected, "size", 0)
    hashers._combiner.cache_clear()
    yield
    hashers._combiner.cache_clear()


@pytest.mark.usefixtures("fresh_process")
def test_little_is_left_to_hashlib(combined: Combiner) -> None:
    small = new_sha3(b"prefix", expected=1000)
    assert not are_combined([small])
    large = new_sha3(b"prefix", expected=WORTH_A_KERNEL_BYTES)
    assert are_combined([large])
    assert not are_combined([small, large])
    update_all([(small, [b"abc", b"d"]), (large, [b"abc", b"d"])])
    assert small.digest() == large.digest() == expected(b"prefixabcd")


@pytest.mark.usefixtures("fresh_process")
@pytest.mark.parametrize("fault", [ImportError, OSError, RuntimeError])
def test_without_llvm_hashlib_does_everything(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    def no_engine(width: int) -> None:
        raise fault("none here")

    monkeypatch.setattr(kernel, "_engine", no_engine)
    kernel._made.cache_clear()
    try:
        hasher = new_sha3(b"abc", expected=1 << 40)
        assert not are_combined([hasher])
        assert hasher.digest() == expected(b"abc")
    finally:
        kernel._made.cache_clear()


def test_a_wrong_kernel_is_not_used() -> None:
    if not kernels():
        pytest.skip("LLVM makes no kernel on this machine")
    right = kernel._compiled(4)

    def one_block_short(states: int, data: int, blocks: int) -> None:
        right(states, data, blocks - 1)

    wrong: Absorb = one_block_short
    assert kernel._timed(4, right).width == 4
    with pytest.raises(NoKernel, match="wrong hashes"):
        kernel._timed(4, wrong)


def test_the_assembly_names_its_parts() -> None:
    text = assembly(4)
    assert "define void @absorb(ptr %states, ptr %data, i64 %blocks)" in text
    assert f"mul i64 %number, {BLOCK_BYTES}" in text
