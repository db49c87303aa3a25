"""From what was asked for to a dataset on a registered repository. Blocking calls, for threads."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from app.accounts.model import AccountInfo
from app.mirrors.errors import MirrorSourceNotFound, NotRegistered
from app.mirrors.repositories import Registered, Repositories
from odf_core.errors import Unavailable
from odf_core.identity import (
    DatasetAliasRemote,
    DatasetIdRemote,
    DatasetUrl,
    InvalidReference,
    Multihash,
    parse_dataset_ref_remote,
)
from odf_core.transfer.client import (
    DatasetAddress,
    Http,
    RemoteDatasetNotFound,
    RemoteForbidden,
    RemoteUnauthenticated,
    RepositoryApi,
    Resolver,
    UnexpectedAnswer,
    remote_head,
)

Wanted = DatasetAliasRemote | DatasetIdRemote
"""`repo/[account/]name`, or an id: in one repository first (`repo/did:odf:…`), then in any."""

_UNSEEN = (RemoteDatasetNotFound, RemoteForbidden, RemoteUnauthenticated)
_UNKNOWN = (*_UNSEEN, UnexpectedAnswer)
"""A web server of files knows no ids, and may answer with anything."""


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset on a repository as it is now; `token` is None where anybody may read it."""

    ref: DatasetAliasRemote
    address: DatasetAddress
    head: Multihash
    token: str | None = field(repr=False)


def parse_wanted(text: str, repositories: Repositories) -> Wanted:
    """What a request names: a reference, or the URL of a dataset below that of a registered repository.

    Raises `InvalidReference` and its like, `NotRegistered`.
    """
    found = parse_dataset_ref_remote(text)
    if isinstance(found, DatasetUrl):
        return _below_a_repository(found.url, repositories)
    if found.repo is not None and found.repo not in repositories:
        raise NotRegistered(
            f"There is no repository {found.repo!s} on this node; its operator can register it "
            "(`odf admin repo add`).",
            objects=[found.repo],
        )
    return found


def _below_a_repository(url: str, repositories: Repositories) -> DatasetAliasRemote:
    """The dataset by names: nothing else of the URL counts, so it cannot lead anywhere else."""
    address = DatasetAddress.parse(url)
    for repo in repositories.values():
        root = DatasetAddress.parse(repo.url).url
        if address.url.lower().startswith(root.lower()):
            try:
                return DatasetAliasRemote.parse(f"{repo.name!s}/{address.url[len(root) : -1]}")
            except InvalidReference:
                continue
    raise NotRegistered(
        f"{url} is no dataset of a repository that is registered on this node; its operator can register it "
        "(`odf admin repo add`).",
        objects=[url],
    )


def locate(http: Http, repositories: Repositories, account: AccountInfo, wanted: Wanted) -> Source:
    """Where the account reads the dataset. What anybody may read is read without a token.

    Raises `MirrorSourceNotFound`, `NotRegistered`, `RemoteUnavailable` where nobody has it and one
    repository did not answer, and what other answers become.
    """
    if isinstance(wanted, DatasetAliasRemote):
        found = _by_name(http, _repository(repositories, wanted), account, wanted)
    else:
        found = _by_id(http, repositories, account, wanted)
    if found is None:
        raise MirrorSourceNotFound(
            f"{wanted} is in no repository that is registered on this node, or not shown to {account.name}.",
            objects=[wanted],
        )
    return found


def _repository(repositories: Repositories, ref: DatasetAliasRemote) -> Registered:
    repo = repositories.get(ref.repo)
    if repo is None:
        raise NotRegistered(
            f"The repository {ref.repo!s}, of which {ref} is mirrored, is no longer registered on this node.",
            objects=[ref],
        )
    return repo


def _by_name(http: Http, repo: Registered, account: AccountInfo, ref: DatasetAliasRemote) -> Source | None:
    for token in _tokens(repo, account):
        try:
            return _read(http, repo, ref, token)
        except _UNSEEN:
            continue
    return None


def _read(http: Http, repo: Registered, ref: DatasetAliasRemote, token: str | None) -> Source:
    resolver = Resolver({repo.name: repo.url}, lambda url: RepositoryApi(http, url, token))
    address = resolver.pull(ref)
    return Source(ref, address, remote_head(http, address.url, token), token)


def _by_id(
    http: Http, repositories: Repositories, account: AccountInfo, wanted: DatasetIdRemote
) -> Source | None:
    failure: Unavailable | None = None
    for repo in _candidates(repositories, wanted):
        try:
            ref = _name_of(http, repo, account, replace(wanted, repo=repo.name))
            found = None if ref is None else _by_name(http, repo, account, ref)
        except Unavailable as error:
            failure = error
            continue
        if found is not None:
            return found
    if failure is not None:
        raise failure
    return None


def _candidates(repositories: Repositories, wanted: DatasetIdRemote) -> Iterator[Registered]:
    """The repository that was named, then the others."""
    yield from (repo for repo in repositories.values() if repo.name == wanted.repo)
    yield from (repo for repo in repositories.values() if repo.name != wanted.repo)


def _name_of(
    http: Http, repo: Registered, account: AccountInfo, wanted: DatasetIdRemote
) -> DatasetAliasRemote | None:
    url = DatasetAddress.parse(repo.url).url
    for token in _tokens(repo, account):
        api = RepositoryApi(http, url, token)
        try:
            known = api.dataset(wanted.id)
            if known is not None:
                owner = known.account if api.is_multi_tenant() else None
                return DatasetAliasRemote(repo.name, owner, known.name)
        except _UNKNOWN:
            continue
    return None


def _tokens(repo: Registered, account: AccountInfo) -> Iterator[str | None]:
    yield None
    token = repo.token_for(account)
    if token is not None:
        yield token
