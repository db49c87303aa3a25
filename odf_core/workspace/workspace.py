"""A person's local datasets: the verbs of a coordinator in one object."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, DatasetId, ObjectRef, parse_dataset_ref
from odf_core.limits import Limits
from odf_core.metadata import MetadataBlock, Seed, StoredBlock
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import LocalDatasetExists, LocalDatasetNotFound, NothingToImport
from odf_core.workspace.layout import find_folder, init_folder
from odf_core.workspace.repos import RepoRegistry
from odf_core.workspace.tokens import TokenStore


def remove_files(dataset: LocalDataset) -> None:
    """Delete a dataset whose lock the caller holds, its head first."""
    (dataset.path / "refs" / "head").unlink(missing_ok=True)
    shutil.rmtree(dataset.path)


class Workspace:
    """The workspace in a folder `.odf`; `limits` bound what is read of other people's data."""

    def __init__(self, root: Path, *, limits: Limits | None = None, tokens: TokenStore | None = None) -> None:
        self.root = root
        self.limits = limits or Limits()
        self.tokens = tokens or TokenStore()
        self.repos = RepoRegistry(root / "repos.yaml")

    @classmethod
    def init(cls, parent: Path, **options: object) -> "Workspace":
        """A new workspace in `parent`. Raises `WorkspaceExists`."""
        return cls(init_folder(parent), **options)  # type: ignore[arg-type]

    @classmethod
    def find(cls, start: Path | None = None, **options: object) -> "Workspace":
        """The workspace of `start` (default: the current folder). Raises `WorkspaceNotFound`."""
        return cls(find_folder((start or Path.cwd()).absolute()), **options)  # type: ignore[arg-type]

    # Looking

    def datasets(self) -> Iterator[LocalDataset]:
        """All datasets with a head, in the order of their names."""
        found = [item for item in self._folders() if item.head is not None and item.alias is not None]
        return iter(sorted(found, key=lambda item: str(item.alias).lower()))

    def dataset(self, reference: str | DatasetId | DatasetAlias) -> LocalDataset:
        """The dataset of this id or name. Raises `LocalDatasetNotFound`, `InvalidReference`."""
        ref = parse_dataset_ref(reference) if isinstance(reference, str) else reference
        found = self.find_dataset(ref)
        if found is None:
            raise LocalDatasetNotFound(
                f"There is no dataset {ref} in the workspace {self.root.parent}.", objects=[ref]
            )
        return found

    def find_dataset(self, ref: DatasetId | DatasetAlias) -> LocalDataset | None:
        """The dataset of this id or name, None where the workspace has none with a head."""
        if isinstance(ref, DatasetId):
            dataset = self._at(ref)
            return dataset if dataset.head is not None else None
        return next((item for item in self.datasets() if item.alias == ref), None)

    # Making

    def place(
        self, alias: DatasetAlias, seed: Seed, *, instead_of: LocalDataset | None = None
    ) -> LocalDataset:
        """Where a new dataset goes; it exists with its first head. Raises `LocalDatasetExists`.

        `instead_of` may have the same name: the caller is about to delete it.
        """
        same_id, same_name = self.find_dataset(seed.dataset_id), self.find_dataset(alias)
        if same_id is not None:
            raise LocalDatasetExists(
                f"Dataset {seed.dataset_id} is in the workspace already, as {same_id.alias}.",
                objects=[seed.dataset_id],
                extras={"alias": str(same_id.alias)},
            )
        if same_name is not None and (instead_of is None or same_name.id != instead_of.id):
            raise LocalDatasetExists(
                f"Another dataset is called {alias} already ({same_name.id}); choose another name.",
                objects=[same_name.id],
                extras={"alias": str(alias)},
            )
        dataset = self._at(seed.dataset_id)
        dataset.folder.create()
        dataset.alias = alias
        return dataset

    def create_from_blocks(
        self,
        alias: DatasetAlias | str,
        blocks: Iterable[MetadataBlock | StoredBlock],
        objects: Mapping[ObjectRef, Path] | Path | None = None,
    ) -> LocalDataset:
        """A new dataset of these blocks, oldest first, and the files that they declare.

        `objects` maps objects to files, or is a folder in the layout of the specification. Raises
        `NothingToImport`, `LocalDatasetExists`, the refusals of the chain's rules, and
        `LocalObjectDamaged` for a file that is not what its block declares.
        """
        name = DatasetAlias.parse(alias) if isinstance(alias, str) else alias
        listed = list(blocks)
        first = listed[0] if listed else None
        head_block = first.block if isinstance(first, StoredBlock) else first
        if head_block is None or not isinstance(head_block.event, Seed):
            raise NothingToImport("A dataset begins with a Seed.", objects=[name])
        dataset = self.place(name, head_block.event)
        with dataset.lock():
            append_blocks(dataset.folder, listed, objects)
        return dataset

    def append_blocks(
        self,
        dataset: LocalDataset,
        blocks: Sequence[MetadataBlock | StoredBlock],
        objects: Mapping[ObjectRef, Path] | Path | None = None,
    ) -> None:
        """Put blocks and their files onto a dataset. Raises as `create_from_blocks` does."""
        with dataset.lock():
            append_blocks(dataset.folder, blocks, objects)

    def rename(self, dataset: LocalDataset, alias: DatasetAlias) -> None:
        """Call a dataset by another name; its id and its chain stay. Raises `LocalDatasetExists`."""
        with dataset.lock():
            same_name = self.find_dataset(alias)
            if same_name is not None and same_name.id != dataset.id:
                raise LocalDatasetExists(
                    f"Another dataset is called {alias} already ({same_name.id}); choose another name.",
                    objects=[same_name.id],
                    extras={"alias": str(alias)},
                )
            dataset.alias = alias

    def delete(self, dataset: LocalDataset) -> None:
        """Remove a dataset from the workspace, its head first. Raises `DatasetBusy`."""
        with dataset.lock():
            remove_files(dataset)

    def _at(self, dataset_id: DatasetId) -> LocalDataset:
        path = self.root / "datasets" / dataset_id.multibase
        return LocalDataset(dataset_id, path, self.root / "locks", self.limits)

    def _folders(self) -> Iterator[LocalDataset]:
        for path in sorted((self.root / "datasets").iterdir()):
            try:
                dataset_id = DatasetId.parse(f"did:odf:{path.name}")
            except OdfError:  # not ours: somebody keeps notes here
                continue
            yield self._at(dataset_id)
