"""A first pull of a chain of 20,000 blocks: Smart against Simple, and against one local tar."""

import os
import time
from pathlib import Path

from bench.figures import Aim, Figure, Row
from bench.material import Material, long_dataset
from bench.stage import Stage
from odf_core.limits import Limits
from odf_core.metadata import Seed, read_block
from odf_core.transfer.archive import read_archive, write_archive
from odf_core.transfer.client import DatasetFolder, Http, HttpSource, SimplePull
from odf_core.transfer.model import MediaType

TITLE = "chain: first pull of 20,000 blocks without objects"
NUM_BLOCKS = 20_000
NUM_SIMPLE_BLOCKS = 2_000
"""How many are pulled over the Simple protocol, whose time is the same for every block."""
AIM_SIMPLE = Aim(30, at_least=True)
AIM_TAR = Aim(3)


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions. Each Smart round is the first pull of a chain that was just pushed."""
    pushed, cold, warm, local = [], [], [], []
    for number in range(stage.rounds):
        stage.say(f"chain: round {number + 1} of {stage.rounds}: push, pull, pull again, tar")
        name = f"chain-{number}"
        material = long_dataset(stage.new_folder(), name, NUM_BLOCKS)
        tar = _write_tar(stage.new_folder(), material)
        pushed.append(stage.push(material, name))
        cold.append(_pull(stage, name, material))
        warm.append(_pull(stage, name, material))
        local.append(_read_tar(tar))
    simple = Figure.of([_pull_simple(stage)])
    first, again = Figure.of(cold), Figure.of(warm)
    rows = [
        Row.faster("Smart, archive made for it; Simple", first, simple, AIM_SIMPLE),
        Row.times("Smart, archive made for it; local tar", first, Figure.of(local), AIM_TAR),
        Row.times("Smart, archive there already; local tar", again, Figure.of(local)),
        Row("push of the chain", Figure.of(pushed)),
    ]
    return rows, (
        f"{NUM_BLOCKS} blocks, {material.block_bytes / 1e6:.1f} MB. Pulls check hashes and every chain rule, "
        "write a file for each block and flush. The tar is read from the page cache, each block "
        "hashed and parsed; nothing is written and no chain rule checked. The Simple protocol goes block by "
        f"block: {_num_simple(stage)} were pulled, the seconds scaled to all."
    )


def _pull(stage: Stage, name: str, material: Material) -> float:
    seconds, folder = stage.pull(name)
    if folder.head() != material.blocks[-1].hash:
        raise RuntimeError("the pull ended at another head")
    return seconds


def _num_simple(stage: Stage) -> int:
    return NUM_BLOCKS if stage.full else NUM_SIMPLE_BLOCKS


def _pull_simple(stage: Stage) -> float:
    """Seconds over the Simple protocol, for all blocks; measured with fewer unless all are wished for."""
    count = _num_simple(stage)
    stage.say(f"chain: {count} blocks over the Simple protocol")
    stage.push(long_dataset(stage.new_folder(), "simple", count), "simple")
    folder, address = DatasetFolder(stage.new_folder()), stage.address("simple", smart=False)

    def create(seed: Seed) -> DatasetFolder:
        return folder

    os.sync()
    started = time.perf_counter()
    with Http(stage.options) as http:
        source = HttpSource(http, address, stage.node.token)
        SimplePull(source, None, create, stage.options).run()
    return (time.perf_counter() - started) * (NUM_BLOCKS / count)


def _write_tar(path: Path, material: Material) -> Path:
    path.write_bytes(write_archive(((block.hash, block.data) for block in material.blocks), MediaType.TAR))
    return path


def _read_tar(path: Path) -> float:
    """Seconds to read one tar and to hash and parse every block of it; all are kept, as a pull does."""
    limits = Limits()
    started = time.perf_counter()
    blocks = [
        read_block(data, name, limits)
        for name, data in read_archive(path.read_bytes(), limits, MediaType.TAR)
    ]
    seconds = time.perf_counter() - started
    if len(blocks) != NUM_BLOCKS:
        raise RuntimeError(f"the tar has {len(blocks)} blocks")
    return seconds
