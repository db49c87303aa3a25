"""Workspaces with built datasets, for the verbs that keep them in order."""

from dataclasses import replace
from pathlib import Path

from odf_core.identity import Multihash
from odf_core.metadata import ExecuteTransform
from odf_core.workspace import LocalDataset, TokenStore, Workspace
from odf_core.workspace.verification import verify_dataset
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset


def new_workspace(folder: Path) -> Workspace:
    return Workspace.init(folder / "work", tokens=TokenStore(folder / "home" / "tokens.yaml"))


def put(workspace: Workspace, name: str, builder: DatasetBuilder, folder: Path) -> LocalDataset:
    """The builder's dataset as a dataset of the workspace."""
    there = builder.write(folder / f"made of {name}")
    return workspace.create_from_blocks(name, builder.blocks, there)


def derivative_of(builder: DatasetBuilder, name: str, read: Multihash | None = None) -> DatasetBuilder:
    """A derivative of the builder's dataset that has read it up to the block `read`."""
    made = derivative_dataset(name, builder.chain.name)
    query = made.chain.pop().block.event
    assert isinstance(query, ExecuteTransform)
    (source,) = query.query_inputs
    inputs = (replace(source, new_block_hash=read or builder.chain.head, new_offset=9),)
    made.chain.event(replace(query, query_inputs=inputs))
    return made


def assert_whole(dataset: LocalDataset) -> None:
    report = verify_dataset(dataset)
    assert report.ok, report.findings
