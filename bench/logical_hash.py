"""`python -m bench.logical_hash`: the logical hash beside bare SHA3-256 of the same bytes.

For each kind of column a table is made with as many columns as threads. The baseline hashes the columns'
finished streams with `hashlib.sha3_256`, one thread for each column; the logical hash of the table gets
the same number of threads and has to make the streams as well. Both run in turns, best of several rounds;
both must end in the same hash. MB are 10^6 bytes of stream, over all columns. `ratio` compares time on the
clock, `cpu ratio` processor time of all threads, which other work on the machine disturbs less.

The last lines give one column alone two threads: bare SHA3-256 cannot use the second one, the logical hash
can (it makes the next piece of the stream while the last one is hashed).
"""

import argparse
import hashlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data.digest.columns import layout_of, leaf_arrays
from odf_core.data.digest.items import encode, pieces
from odf_core.data.digest.record import logical_hash_batches

_BATCH_ROWS = 1 << 16
_TITLES = ("threads", "stream MB", "sha3 MB/s", "ours MB/s", "ratio", "cpu ratio", "aim")


@dataclass(frozen=True)
class Case:
    name: str
    aim: float | None
    columns: list[Any]  # whole columns, one for each stream


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.logical_hash", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of each column")
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the best of each side counts")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of both sides")
    options = parser.parse_args()
    print(f"{'column':32}" + "".join(f"{title:>11}" for title in _TITLES))
    for threads in sorted({1, options.threads}):
        for case in _cases(options.rows, threads):
            _report(case, threads, options.rounds)
    if options.threads > 1:
        for case in _cases(options.rows, 1)[:8]:
            _report(case, 2, options.rounds, alone=True)


def _cases(rows: int, columns: int) -> list[Case]:
    make = {
        "int64": _int64,
        "float64": _float64,
        "timestamp(ms)": _timestamp,
        "short strings": _strings,
        "bool": _bool,
    }
    cases = []
    for name, column in make.items():
        aim = {"short strings": 0.6, "bool": None}.get(name, 0.9)
        for nulls in (0.0, 0.1):
            arrays = [column(np.random.default_rng(seed), rows, nulls) for seed in range(columns)]
            cases.append(Case(f"{name}, {nulls:.0%} nulls", aim, arrays))
    random = np.random.default_rng(7)
    mixed = [make(random, rows, nulls) for make, nulls in _MIXED]
    return [*cases, Case("mixed table (8 columns)", None, mixed)]


def _mask(random: Any, rows: int, nulls: float) -> Any:
    return random.random(rows) < nulls if nulls else None


def _int64(random: Any, rows: int, nulls: float) -> Any:
    return pa.array(random.integers(0, 1 << 48, rows), mask=_mask(random, rows, nulls))


def _float64(random: Any, rows: int, nulls: float) -> Any:
    return pa.array(random.normal(size=rows), mask=_mask(random, rows, nulls))


def _timestamp(random: Any, rows: int, nulls: float) -> Any:
    times = random.integers(1_600_000_000_000, 1_800_000_000_000, rows)
    return pa.array(times, pa.timestamp("ms", "UTC"), mask=_mask(random, rows, nulls))


def _bool(random: Any, rows: int, nulls: float) -> Any:
    return pa.array(random.random(rows) < 0.5, mask=_mask(random, rows, nulls))


def _strings(random: Any, rows: int, nulls: float) -> Any:
    """4 to 18 letters, 11 on average."""
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(random.integers(4, 19, rows), out=offsets[1:])
    letters = random.integers(97, 123, int(offsets[-1])).astype(np.uint8)
    mask = _mask(random, rows, nulls)
    bitmap = None if mask is None else pa.py_buffer(np.packbits(~mask, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), rows, [bitmap, pa.py_buffer(offsets), pa.py_buffer(letters)])


_MIXED: list[tuple[Callable[[Any, int, float], Any], float]] = [
    (_int64, 0.0),
    (_timestamp, 0.0),
    (_timestamp, 0.1),
    (_strings, 0.0),
    (_strings, 0.1),
    (_float64, 0.0),
    (_float64, 0.1),
    (_bool, 0.1),
]


def _report(case: Case, threads: int, rounds: int, *, alone: bool = False) -> None:
    schema = pa.schema([pa.field(f"c{i}", column.type) for i, column in enumerate(case.columns)])
    batches = pa.Table.from_arrays(case.columns, schema=schema).to_batches(_BATCH_ROWS)
    layout = layout_of(schema)
    streams = _streams(batches, len(case.columns))
    hashing = 1 if alone else threads

    def baseline() -> str:
        with ThreadPoolExecutor(hashing) as pool:
            digests = pool.map(_sha3, layout.prefixes, streams)
        return hashlib.sha3_256(layout.header + b"".join(digests)).hexdigest()

    def ours() -> str:
        return logical_hash_batches(schema, batches, threads=threads, expected=size).digest.hex()

    size = sum(map(len, streams))
    assert baseline() == ours()
    (bare, bare_cpu), (logical, logical_cpu) = _best(rounds, baseline, ours)
    megabytes = size / 1e6
    name = f"{case.name}, alone" if alone else case.name
    aim = "-" if case.aim is None else f"{case.aim:.1f}"
    speeds = f"{megabytes / bare:11.0f}{megabytes / logical:11.0f}{bare / logical:11.2f}"
    numbers = f"{threads:11}{megabytes:11.1f}{speeds}"
    print(f"{name:32}{numbers}{bare_cpu / logical_cpu:11.2f}{aim:>11}", flush=True)


def _sha3(prefix: bytes, stream: bytes) -> bytes:
    hasher = hashlib.sha3_256(prefix)
    hasher.update(stream)
    return hasher.digest()


def _streams(batches: list[Any], columns: int) -> list[bytes]:
    parts: list[list[bytes]] = [[] for _ in range(columns)]
    for batch in batches:
        for stream, (array, validity) in zip(parts, leaf_arrays(batch), strict=True):
            for piece, bits in pieces(array, validity):
                stream.extend(bytes(part) for part in encode(piece, bits).parts)
    return [b"".join(stream) for stream in parts]


def _best(rounds: int, *runs: Callable[[], str]) -> list[tuple[float, float]]:
    """For each run its least time on the clock and its least processor time, in seconds."""
    best = [(float("inf"), float("inf"))] * len(runs)
    for _ in range(rounds):
        for index, run in enumerate(runs):
            start, cpu_start = time.perf_counter(), time.process_time()
            run()
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
            best[index] = min(best[index][0], wall), min(best[index][1], cpu)
    return best


if __name__ == "__main__":
    main()
