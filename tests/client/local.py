"""Local datasets for the client's tests."""

from pathlib import Path

from odf_core.metadata import Seed
from odf_core.transfer.client.folder import DatasetFolder
from tests.builders.chain_builder import ChainBuilder, chain


def sample(name: str = "foo") -> ChainBuilder:
    """Seed, source, schema, three slices with checkpoints."""
    builder = chain(name).seed().push_source().schema()
    for number in range(3):
        builder.add_data(
            10, content=b"%s slice %d " % (name.encode(), number) * 5000, checkpoint=b"c%d" % number
        )
    return builder


def write(builder: ChainBuilder, path: Path) -> DatasetFolder:
    """The builder's dataset as a local folder."""
    folder = DatasetFolder(path)
    folder.create()
    for name, content in builder.files().items():
        (path / name).write_bytes(content)
    return folder


def files(path: Path) -> dict[str, bytes]:
    """What a dataset is made of, without the files that are nobody else's business."""
    found = {}
    for part in ("blocks", "data", "checkpoints", "refs"):
        for file in (path / part).iterdir():
            found[f"{part}/{file.name}"] = file.read_bytes()
    return found


class Creator:
    """`create` of a pull: places the dataset at `path`, remembers the seeds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seeds: list[Seed] = []

    def __call__(self, seed: Seed) -> DatasetFolder:
        self.seeds.append(seed)
        return DatasetFolder(self.path)
