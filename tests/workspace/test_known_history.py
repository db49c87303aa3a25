"""The history of a local dataset with the slices that are remembered beside it."""

from pathlib import Path

import pytest

from odf_core.identity import Multihash
from odf_core.ingest.history import History
from odf_core.metadata import StoredBlock
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import resume_chain
from odf_core.workspace.history import read_history
from tests.builders.dataset_builder import DatasetBuilder, root_dataset


class CountingFolder(DatasetFolder):
    """Counts the blocks that are read."""

    blocks_read = 0

    def read_block(self, block_hash: Multihash) -> StoredBlock:
        self.blocks_read += 1
        return super().read_block(block_hash)


def long_dataset() -> DatasetBuilder:
    """Eighty blocks, five of them with a slice."""
    dataset = root_dataset("weather")
    for number in range(4):
        for turn in range(18):
            dataset.chain.add_data(0, source_state=f"{number} {turn}")
        dataset.add(3)
    return dataset


def written(dataset: DatasetBuilder, folder: Path) -> Path:
    """The dataset on the disk with its key blocks, as a pull or an ingest leaves it."""
    local = DatasetFolder(dataset.write(folder))
    (folder / "info").mkdir(exist_ok=True)
    resume_chain(local, local.head())[1].save(local)
    return folder


def read(folder: Path) -> int:
    """Reads the history, which is the one that the whole chain tells; how many blocks that took."""
    counting = CountingFolder(folder)
    found = read_history(counting)
    whole = History.of(reversed(list(DatasetFolder(folder).walk())))
    assert found.slices == whole.slices
    assert (found.names, found.schema) == (whole.names, whole.schema)
    for name in ("head", "sequence_number", "last_offset", "watermark", "last_add_data", "last_checkpoint"):
        assert getattr(found.projection, name) == getattr(whole.projection, name)
    return counting.blocks_read


def test_only_new_blocks_are_read_again(tmp_path: Path) -> None:
    dataset = long_dataset()
    folder = written(dataset, tmp_path)
    assert read(folder) >= len(dataset.blocks)
    again = read(folder)
    assert again < 20
    written(dataset.add(5).info("more"), folder)
    assert again < read(folder) <= again + 3


def test_an_empty_folder_has_an_empty_history(tmp_path: Path) -> None:
    assert read_history(DatasetFolder(tmp_path)) == History.of(())


def test_a_chain_that_was_rewritten_is_read_anew(tmp_path: Path) -> None:
    dataset = long_dataset()
    folder = dataset.write(tmp_path)
    read(folder)
    dataset.first(40).write(folder)
    read(folder)
    dataset.first(40).add(7).write(folder)
    read(folder)
    long_dataset().compacted().write(folder)
    read(folder)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: b"",
        lambda text: b"\xff",
        lambda text: text[: len(text) // 2],
        lambda text: b"\n".join([*text.split(b"\n")[:-1], b"x 5"]),
        lambda text: text.replace(b" ", b" 1", 1),
        lambda text: text + b"\n\n",
    ],
)
def test_a_damaged_list_is_passed_over(tmp_path: Path, damage) -> None:
    folder = long_dataset().write(tmp_path)
    read(folder)
    path = folder / "info" / "slices"
    path.write_bytes(damage(path.read_bytes()))
    read(folder)
