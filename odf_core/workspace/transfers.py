"""`pull` and `push` of a workspace: references become addresses, new datasets get their place and name."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import unquote

from odf_core.chain import iter_back
from odf_core.identity import (
    DatasetAlias,
    DatasetId,
    DatasetIdRemote,
    DatasetName,
    DatasetUrl,
    InvalidName,
    RepoName,
    parse_dataset_ref_any,
)
from odf_core.metadata import Seed
from odf_core.transfer import Visibility
from odf_core.transfer.client import (
    SILENT,
    AddressUnresolved,
    DatasetAddress,
    DatasetFolder,
    DatasetSource,
    DialectName,
    FolderSource,
    Http,
    HttpSource,
    Progress,
    RepositoryApi,
    Resolver,
    SimplePull,
    SmartPull,
    SmartPush,
    TransferOptions,
    TransferResult,
    UnexpectedAnswer,
    Updated,
    folder_of,
)
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import LocalDatasetNotFound, NoAliasToPull
from odf_core.workspace.neighbours import dataset_folder
from odf_core.workspace.state import nowhere_to_pull
from odf_core.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Transferred:
    """What a pull or push came to: the local dataset, the other side's address, the result."""

    dataset: LocalDataset
    address: str
    result: TransferResult


@dataclass(slots=True)
class Transfers:
    """Moves datasets between `workspace` and other places.

    `token` is used instead of a stored one, for the origin of the address that is pulled or pushed.
    """

    workspace: Workspace
    options: TransferOptions = field(default_factory=TransferOptions)
    progress: Progress = SILENT
    token: str | None = None

    def pull(
        self,
        reference: str,
        *,
        name: DatasetAlias | None = None,
        force: bool = False,
        remember: bool = True,
    ) -> Transferred:
        """Bring a dataset here, or up to date: by URL, `repo/[account/]name`, or the name or id of one
        that has been pulled before. `name` is what it is called here.

        Raises what the pulls of `odf_core.transfer.client` raise, `LocalDatasetExists`, `NoAliasToPull`,
        `LocalDatasetNotFound`, `AddressUnresolved`, `DatasetBusy`.
        """
        with Http(self.options, self.progress) as http, ExitStack() as locks:
            local, address = self._source(http, reference)
            if local is None:
                local = self._pulled_before(str(address), name)
            if local is not None:
                locks.enter_context(local.lock())
            pull = _Pull(self, http, address, name, local, locks)
            result = pull.run(force)
            dataset = pull.dataset()
            if remember and isinstance(result, Updated) and result.old_head is None:
                dataset.remember(pull=str(address))
        return Transferred(dataset, str(address), result)

    def push(
        self,
        reference: str,
        target: str | None = None,
        *,
        force: bool = False,
        visibility: Visibility = Visibility.PRIVATE,
        remember: bool = True,
    ) -> Transferred:
        """Bring a local dataset (name or id) to `target`: a URL, `repo`, `repo/[account/]name`, or
        without one to its saved address or the only repository.

        Raises what `SmartPush.run` raises, `LocalDatasetNotFound`, `AddressUnresolved`, `DatasetBusy`.
        """
        dataset = self.workspace.dataset(reference)
        alias = dataset.alias
        if alias is None:
            raise LocalDatasetNotFound(f"There is no dataset {reference}.", objects=[reference])
        with Http(self.options, self.progress) as http, dataset.lock():
            resolver = self._resolver(http)
            address = resolver.push(
                target, dataset_id=dataset.id, name=alias.name, saved=dataset.remotes.push
            )
            result = SmartPush(
                http,
                address,
                dataset.folder,
                dataset.id,
                self.token_for(address.url),
                self.progress,
                force,
                visibility,
            ).run()
            if remember:
                dataset.remember(push=str(address))
        return Transferred(dataset, str(address), result)

    def token_for(self, url: str) -> str | None:
        """The token to send to the origin of `url`."""
        return self.token if self.token is not None else self.workspace.tokens.get(url)

    def _resolver(self, http: Http) -> Resolver:
        return Resolver(self.workspace.repos, lambda url: RepositoryApi(http, url, self.token_for(url)))

    def _source(self, http: Http, reference: str) -> tuple[LocalDataset | None, DatasetAddress | DatasetUrl]:
        """The local dataset, where the reference names one, and the address to pull from."""
        ref = parse_dataset_ref_any(reference, lambda name: RepoName(name) in self.workspace.repos)
        if isinstance(ref, DatasetUrl) and folder_of(ref.url) is not None:
            return None, ref
        if isinstance(ref, DatasetIdRemote) and ref.repo is None:
            return self._saved(self.workspace.dataset(ref.id))
        if isinstance(ref, DatasetAlias):
            return self._saved(self.workspace.dataset(ref))
        return None, self._resolver(http).pull(ref)

    def _saved(self, dataset: LocalDataset) -> tuple[LocalDataset, DatasetAddress | DatasetUrl]:
        saved = dataset.remotes.pull
        if len(saved) != 1:
            raise NoAliasToPull(nowhere_to_pull(dataset), objects=saved or [dataset.id])
        url = DatasetUrl(saved[0])
        return dataset, url if folder_of(url.url) is not None else DatasetAddress.parse(url.url)

    def _pulled_before(self, address: str, name: DatasetAlias | None) -> LocalDataset | None:
        """The local dataset of the name that was asked for, else the one that the address was pulled
        into, else the one of the name that the address gives."""
        if name is None:
            for dataset in self.workspace.datasets():
                if address in dataset.remotes.pull:
                    return dataset
        return self.workspace.find_dataset(name or _default_name(address))


@dataclass(slots=True)
class _Pull:
    """One pull with its protocol; places a new dataset when its Seed is known, and locks it."""

    transfers: Transfers
    http: Http
    address: DatasetAddress | DatasetUrl
    name: DatasetAlias | None
    local: LocalDataset | None
    locks: ExitStack

    def run(self, force: bool) -> TransferResult:
        folder = self.local.folder if self.local is not None else None
        progress, options = self.transfers.progress, self.transfers.options
        source = self._simple_source()
        if not isinstance(self.address, DatasetAddress) or not self.address.smart:
            return SimplePull(source, folder, self._place, options, progress, force).run()
        dataset_id = self.local.id if self.local is not None else self._published_id(source)
        token = self.transfers.token_for(self.address.url)
        return SmartPull(
            self.http, self.address, folder, self._place, token, progress, force, dataset_id
        ).run()

    def dataset(self) -> LocalDataset:
        if self.local is None:
            raise AssertionError("a pull that succeeded has placed its dataset")
        return self.local

    def _place(self, seed: Seed) -> DatasetFolder:
        self.local = self.transfers.workspace.place(self.name or _default_name(str(self.address)), seed)
        self.locks.enter_context(self.local.lock())
        return self.local.folder

    def _simple_source(self) -> DatasetSource:
        progress, limits = self.transfers.progress, self.transfers.options.limits
        if isinstance(self.address, DatasetUrl):
            folder = folder_of(self.address.url)
            if folder is None:
                raise AddressUnresolved(f"{self.address} is no address of a dataset.", objects=[self.address])
            return FolderSource(dataset_folder(folder), limits, progress)
        return HttpSource(self.http, self.address, self.transfers.token_for(self.address.url), progress)

    def _published_id(self, source: DatasetSource) -> DatasetId | None:
        """The published dialect wants the id with the first message: it stands in the Seed, the last
        block on the way from the head."""
        if self.transfers.options.dialect is not DialectName.PUBLISHED:
            return None
        for block in iter_back(source.read_block, source.head()):
            if isinstance(block.block.event, Seed):
                return block.block.event.dataset_id
        raise UnexpectedAnswer(f"The chain of {self.address} has no Seed.", objects=[self.address])


def _default_name(address: str) -> DatasetAlias:
    """What a dataset from this address is called here: the last part of the path."""
    last = unquote(address.rstrip("/").rsplit("/", 1)[-1])
    try:
        return DatasetAlias(None, DatasetName(last))
    except InvalidName as error:
        raise AddressUnresolved(
            f"The address {address} gives no name for the dataset; say one with `--as`.", objects=[address]
        ) from error
