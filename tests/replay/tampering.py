"""Copies of a derivative chain with one lie in them, made into well-formed chains again."""

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data import write_slice
from odf_core.identity import Multihash
from odf_core.metadata import (
    DataSlice,
    ExecuteTransform,
    MetadataBlock,
    StoredBlock,
    make_block,
)
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target
from odf_core.verify.findings import ReplayReport
from odf_core.verify.options import ReplayOptions
from odf_core.verify.replay import replay
from odf_core.workspace import LocalDataset, Workspace

_numbers = itertools.count()


@dataclass
class Copy:
    """A dataset in a folder of its own: its blocks, oldest first, of which any may be changed."""

    path: Path
    blocks: list[MetadataBlock]
    hashes: list[Multihash] = field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        """Places of the steps."""
        return [n for n, block in enumerate(self.blocks) if isinstance(block.event, ExecuteTransform)]

    def event(self, place: int) -> Any:
        return self.blocks[place].event

    def change(self, place: int, **fields: Any) -> None:
        """Other fields of an event."""
        self.blocks[place] = replace(self.blocks[place], event=replace(self.event(place), **fields))

    def slice_path(self, data: DataSlice) -> Path:
        return self.path / "data" / str(data.physical_hash)

    def table(self, place: int) -> pa.Table:
        """The rows of a step."""
        return pq.read_table(self.slice_path(self.event(place).new_data))

    def put(self, table: pa.Table) -> DataSlice:
        """A slice of these rows, with its true description."""
        made = write_slice(table, self.path / "data" / f"new-{next(_numbers)}")
        shutil.move(made.path, self.slice_path(made.data_slice))
        return made.data_slice

    def rebuild(self) -> list[StoredBlock]:
        """Links, offsets and what a step repeats of the one before, right again; the head set."""
        made: list[StoredBlock] = []
        last_offset: int | None = None
        before: ExecuteTransform | None = None
        for place, block in enumerate(self.blocks):
            if isinstance(block.event, ExecuteTransform):
                self._follow(place, before, last_offset)
                before = self.event(place)
                last_offset = (
                    before.prev_offset if before.new_data is None else before.new_data.offset_interval.end
                )
            previous = made[-1].hash if made else None
            made.append(make_block(replace(self.blocks[place], prev_block_hash=previous)))
        self.hashes = [block.hash for block in made]
        for block in made:
            (self.path / "blocks" / str(block.hash)).write_bytes(block.data)
        (self.path / "refs" / "head").write_text(str(made[-1].hash))
        return made

    def _follow(self, place: int, before: ExecuteTransform | None, last_offset: int | None) -> None:
        event = self.event(place)
        data, start = event.new_data, 0 if last_offset is None else last_offset + 1
        if data is not None and data.offset_interval.start != start:
            table = self.table(place)
            data = self.put(table.set_column(0, table.schema.field(0), pa.array(range(start, start + len(table)), pa.int64())))
        inputs = event.query_inputs
        if before is not None:
            inputs = tuple(_continued(item, last) for item, last in zip(inputs, before.query_inputs, strict=True))
        self.change(place, prev_offset=last_offset, new_data=data, query_inputs=inputs)


def _continued(item: Any, last: Any) -> Any:
    block = last.new_block_hash or last.prev_block_hash
    offset = last.prev_offset if last.new_offset is None else last.new_offset
    return replace(
        item,
        prev_block_hash=block,
        prev_offset=offset,
        new_block_hash=None if item.new_block_hash == block else item.new_block_hash,
        new_offset=None if item.new_offset == offset else item.new_offset,
    )


@dataclass
class World:
    """A workspace of honest datasets, and the engine that made them."""

    workspace: Workspace
    engine: Any
    datasets: dict[str, LocalDataset]
    folder: Path

    def copy(self, name: str) -> Copy:
        path = self.folder / f"copy-{next(_numbers)}"
        shutil.copytree(self.datasets[name].path, path)
        blocks = [block.block for block in DatasetFolder(path).walk()][::-1]
        return Copy(path, blocks)

    def chain(self, dataset_id: Any) -> InputChain:
        dataset = self.workspace.dataset(dataset_id)
        return InputChain(dataset.id, str(dataset.alias), list(dataset.folder.walk())[::-1])

    def replay(
        self, name: str, path: Path | None = None, choose: Callable | None = None, **options: Any
    ) -> ReplayReport:
        """The replay of a dataset, or of a copy of it in `path`."""
        dataset = self.datasets[name]
        folder = dataset.folder if path is None else DatasetFolder(path)

        def locate(dataset_id, ref):
            of = folder if dataset_id == dataset.id else self.workspace.dataset(dataset_id).folder
            return of.object_path(ref)

        workdir = self.folder / f"work-{next(_numbers)}"
        workdir.mkdir()
        return replay(
            Target(dataset.id, name),
            list(folder.walk())[::-1],
            self.chain,
            choose or (lambda transform: self.engine),
            locate,
            workdir,
            ReplayOptions(**options),
        )
