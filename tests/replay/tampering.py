"""Copies of a derivative chain with one lie in them, made into well-formed chains again."""

import itertools
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.chain.data_rules import last_offset
from odf_core.data import physical_hash_file, write_slice
from odf_core.identity import Multihash
from odf_core.metadata import (
    AddData,
    Checkpoint,
    DataSlice,
    ExecuteTransform,
    MetadataBlock,
    StoredBlock,
    make_block,
)
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transform.chains import InputChain
from odf_core.transform.commit import recorded_event
from odf_core.transform.derivation import recorded_steps
from odf_core.transform.execute import Target, execute_step
from odf_core.transform.plan import plan_recorded
from odf_core.verify.findings import ReplayReport
from odf_core.verify.options import ReplayOptions
from odf_core.verify.replay import replay
from odf_core.workspace import LocalDataset, Workspace

_numbers = itertools.count()


@dataclass
class Copy:
    """A dataset in a folder of its own: its blocks, oldest first, of which any may be changed.

    `before_first`: the offset after which it claims to begin.
    """

    path: Path
    blocks: list[MetadataBlock]
    hashes: list[Multihash] = field(default_factory=list)
    before_first: int | None = None

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

    def put_as_it_is(self, table: pa.Table, said: DataSlice) -> DataSlice:
        """A file of these rows, with whatever encoding they have, and the logical hash that `said` tells."""
        path = self.path / "data" / f"new-{next(_numbers)}"
        pq.write_table(table, path)
        made = replace(said, physical_hash=physical_hash_file(path), size=path.stat().st_size)
        shutil.move(path, self.slice_path(made))
        return made

    def put_checkpoint(self, content: bytes) -> Checkpoint:
        """A checkpoint of this content."""
        made = Checkpoint(physical_hash=Multihash.sha3_256(content), size=len(content))
        (self.path / "checkpoints" / str(made.physical_hash)).write_bytes(content)
        return made

    def chained(self) -> list[StoredBlock]:
        """The blocks with right links and numbers, and whatever else they say."""
        made: list[StoredBlock] = []
        for number, block in enumerate(self.blocks):
            link = made[-1].hash if made else None
            made.append(make_block(replace(block, prev_block_hash=link, sequence_number=number)))
        return made

    def rebuild(self) -> list[StoredBlock]:
        """Links, offsets and what a step repeats of the one before, right again; the head set."""
        last = self.before_first
        before: ExecuteTransform | None = None
        for place, block in enumerate(self.blocks):
            if isinstance(block.event, AddData | ExecuteTransform):
                self._follow(place, last)
                last = last_offset(self.event(place))
            if isinstance(block.event, ExecuteTransform):
                self._repeat(place, before)
                before = self.event(place)
        made = self.chained()
        self.hashes = [block.hash for block in made]
        for block in made:
            (self.path / "blocks" / str(block.hash)).write_bytes(block.data)
        (self.path / "refs" / "head").write_text(str(made[-1].hash))
        return made

    def _follow(self, place: int, last: int | None) -> None:
        """Offsets go on from the last one."""
        data, start = self.event(place).new_data, 0 if last is None else last + 1
        if data is not None and data.offset_interval.start != start:
            table = self.table(place)
            offsets = pa.array(range(start, start + len(table)), pa.int64())
            data = self.put(table.set_column(0, table.schema.field(0), offsets))
        self.change(place, prev_offset=last, new_data=data)

    def _repeat(self, place: int, before: ExecuteTransform | None) -> None:
        """A step goes on from where the one before has ended, and from its checkpoint."""
        if before is None:
            return
        pairs = zip(self.event(place).query_inputs, before.query_inputs, strict=True)
        known = before.new_checkpoint
        self.change(
            place,
            query_inputs=tuple(_continued(item, last) for item, last in pairs),
            prev_checkpoint=None if known is None else known.physical_hash,
        )


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

    def next_number(self) -> int:
        return next(_numbers)

    def copy(self, name: str) -> Copy:
        path = self.folder / f"copy-{next(_numbers)}"
        shutil.copytree(self.datasets[name].path, path)
        blocks = [block.block for block in DatasetFolder(path).walk()][::-1]
        return Copy(path, blocks)

    def chain(self, dataset_id: Any) -> InputChain:
        dataset = self.workspace.dataset(dataset_id)
        return InputChain(dataset.id, str(dataset.alias), list(dataset.folder.walk())[::-1])

    def fit(self, name: str, copy: Copy, places: list[int]) -> None:
        """These steps of a copy as they come out of what the copy now says before them."""
        for place in places:
            before = copy.rebuild()
            (step,) = [item for item in recorded_steps(before) if item.block.hash == before[place].hash]
            inputs = [self.chain(item.dataset_id) for item in step.event.query_inputs]
            planned = plan_recorded(step.before, step.event, inputs, changed_since=step.changed_since)
            target = Target(self.datasets[name].id, name)
            moment = step.block.block.system_time
            folder = self.folder / f"fit-{next(_numbers)}"
            folder.mkdir()
            locate = self._locate(name, copy.path)
            done = execute_step(planned, target, self.engine, moment, locate, folder)
            event = recorded_event(done)
            if done.data is not None:
                shutil.copy(done.data.path, copy.slice_path(done.data.data_slice))
            if done.checkpoint is not None:
                copy.put_checkpoint(done.checkpoint_path.read_bytes())
            copy.blocks[place] = replace(copy.blocks[place], event=event)

    def _workdir(self) -> Path:
        path = self.folder / f"work-{next(_numbers)}"
        path.mkdir()
        return path

    def _locate(self, name: str, path: Path | None) -> Callable[[Any, Any], Path]:
        dataset = self.datasets[name]
        folder = dataset.folder if path is None else DatasetFolder(path)

        def locate(dataset_id: Any, ref: Any) -> Path:
            of = folder if dataset_id == dataset.id else self.workspace.dataset(dataset_id).folder
            return of.object_path(ref)

        return locate

    def replay(
        self, name: str, path: Path | None = None, choose: Callable | None = None, **options: Any
    ) -> ReplayReport:
        """The replay of a dataset, or of a copy of it in `path`."""
        dataset = self.datasets[name]
        folder = dataset.folder if path is None else DatasetFolder(path)
        return replay(
            Target(dataset.id, name),
            list(folder.walk())[::-1],
            self.chain,
            choose or (lambda transform: self.engine),
            self._locate(name, path),
            self._workdir(),
            ReplayOptions(**options),
        )
