"""`python -m bench [NAME…]`: measure, each figure beside its baseline from the same run."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from bench import chain, crowd, ingest, pull, push, transforms
from bench.figures import Row, show
from bench.stage import Stage

Run = Callable[[Stage], tuple[list[Row], str]]
BENCHES: dict[str, tuple[str, Run]] = {
    "pull": (pull.TITLE, pull.run),
    "push": (push.TITLE, push.run),
    "chain": (chain.TITLE, chain.run),
    "crowd": (crowd.TITLE, crowd.run),
    "ingest": (ingest.TITLE, ingest.run),
    "transforms": (transforms.TITLE, transforms.run),
}
HASH = "hash"
_WIDTH = 110


def main() -> int:
    """Run the benches that were asked for; a missed aim is told, not an error."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join([*BENCHES, HASH])}; default: all"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts (default: 3)")
    parser.add_argument("--dir", type=Path, default=None, help="where the temporary directory is made")
    parser.add_argument("--full", action="store_true", help="all 20,000 blocks over the Simple protocol too")
    given = parser.parse_args()
    names = given.names or [*BENCHES, HASH]
    if unknown := set(names) - {*BENCHES, HASH}:
        parser.error(f"there is no bench {', '.join(sorted(unknown))}")
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    started, load = time.monotonic(), os.getloadavg()[0]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="odf-bench-", dir=given.dir) as folder:
        stage = Stage(Path(folder), console, given.rounds, given.full)
        try:
            for name in names:
                if name in BENCHES:
                    title, run = BENCHES[name]
                    found, conditions = run(stage)
                    show(console, title, conditions, found)
                    rows += found
        finally:
            stage.close()
    if HASH in names:
        console.rule("hash: the logical hash against SHA3-256 of the same stream", align="left")
        subprocess.run([sys.executable, "-m", "bench.logical_hash"], check=True)
    missed = [row for row in rows if row.is_met is False]
    console.print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {time.monotonic() - started:.0f} s, "
        f"{os.cpu_count()} processors, load before {load:.1f}, at the end {os.getloadavg()[0]:.1f}; "
        + (f"{len(missed)} of the aims missed" if missed else "every aim met")
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
