"""What several benches share: one node, the directory of all files, datasets that are made once."""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from bench.material import Material, make_slices, sliced_dataset
from bench.node import ACCOUNT, NodeProcess
from odf_core.metadata import DataSlice, Seed
from odf_core.transfer import Visibility
from odf_core.transfer.client import (
    DatasetAddress,
    DatasetFolder,
    Http,
    SmartPull,
    SmartPush,
    TransferOptions,
    Updated,
)

NUM_SLICES = 400


@dataclass(slots=True)
class Stage:
    """Everything lies below `root`; nothing is deleted before the end.

    (ext4 is slow at making files in folders near which thousands were deleted within the last minutes,
    so a round that cleans up behind itself would spoil the next one.) Whatever is timed begins with
    nothing left to write to the disk from before.
    """

    root: Path
    console: Console
    rounds: int
    full: bool = False
    options: TransferOptions = field(default_factory=TransferOptions)
    _node: NodeProcess | None = None
    _slices: list[DataSlice] = field(default_factory=list)
    _published: Material | None = None
    _undo: ExitStack = field(default_factory=ExitStack)
    _folders: int = 0

    def say(self, text: str) -> None:
        """Tell what happens now."""
        self.console.print(f"[dim]{text}[/]", highlight=False)

    @property
    def node(self) -> NodeProcess:
        """The node, started at its first use."""
        if self._node is None:
            self.say("starting a node with its own Postgres and S3")
            self._node = self._undo.enter_context(NodeProcess(self.root / "node"))
            _ = self._node.token
        return self._node

    def close(self) -> None:
        """Stop the node."""
        self._undo.close()

    def new_folder(self) -> Path:
        """A folder that does not exist yet, in one that does."""
        self._folders += 1
        return self.root / f"local-{self._folders}"

    def sliced(self, name: str) -> Material:
        """A dataset of `NUM_SLICES` slices; the slices are the same for every name, the blocks are not."""
        files = self.root / "slices"
        if not self._slices:
            self.say(f"making {NUM_SLICES} Parquet slices of a MiB")
            self._slices = make_slices(files, NUM_SLICES)
        return sliced_dataset(self.new_folder(), name, self._slices, files)

    def published_slices(self) -> Material:
        """A dataset of slices that the node holds as `bench/slices`."""
        if self._published is None:
            material = self.sliced("slices")
            self.say("pushing it once, so that there is something to pull")
            self.push(material, "slices")
            self._published = material
        return self._published

    def address(self, name: str, *, smart: bool = True) -> DatasetAddress:
        """The address of a dataset of the bench's account."""
        return DatasetAddress.parse(f"{'odf+' if smart else ''}{self.node.address}/{ACCOUNT}/{name}")

    def push(self, material: Material, name: str) -> float:
        """Seconds of one push by the client, from the first connection to the confirmed head."""
        token, address = self.node.token, self.address(name)
        os.sync()
        started = time.perf_counter()
        with Http(self.options) as http:
            push = SmartPush(
                http, address, material.folder, material.dataset_id, token, visibility=Visibility.PUBLIC
            )
            result = push.run()
        seconds = time.perf_counter() - started
        if not isinstance(result, Updated) or result.stats.objects_moved != len(material.objects):
            raise RuntimeError(f"the push did not move everything: {result}")
        return seconds

    def pull(self, name: str, *, durable: bool = True) -> tuple[float, DatasetFolder]:
        """Seconds of one first pull by the client, to the head moved; the folder that came of it."""
        folder, address = DatasetFolder(self.new_folder()), self.address(name)
        options = self.options.model_copy(update={"durable": durable})

        def create(seed: Seed) -> DatasetFolder:
            return folder

        os.sync()
        started = time.perf_counter()
        with Http(options) as http:
            SmartPull(http, address, None, create, self.node.token).run()
        return time.perf_counter() - started, folder
