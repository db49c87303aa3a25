"""Where a dataset lives: URLs of both transfer protocols, and how a user's reference becomes one.

Follows wire.md 1.3: `odf+http(s)://` is the Smart protocol, `http(s)://` the Simple, read-only one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from odf_core.identity import (
    AccountName,
    DatasetAliasRemote,
    DatasetId,
    DatasetIdRemote,
    DatasetName,
    DatasetUrl,
    InvalidReference,
    RepoName,
)
from odf_core.transfer.client.answers import login_hint, unseen
from odf_core.transfer.client.errors import AddressUnresolved, RemoteReadOnly, RemoteUnauthenticated
from odf_core.transfer.client.repository import RepositoryApi

_SMART = "odf+"
# What may stand in a path as it is (RFC 3986 3.3), and escapes that are there already.
_PATH_CHARACTERS = "/%:@!$&'()*+,;=-._~"


@dataclass(frozen=True, slots=True)
class DatasetAddress:
    """The `http(s)` URL of a dataset, with a slash at its end, and whether to speak Smart with it."""

    url: str
    smart: bool

    @classmethod
    def parse(cls, text: str) -> "DatasetAddress":
        """Reads `[odf+]http(s)://host[:port]/[account/]dataset`; raises `InvalidReference`."""
        smart = text.lower().startswith(_SMART)
        return cls(base_url(text[len(_SMART) :] if smart else text), smart)

    def __str__(self) -> str:
        return f"{_SMART if self.smart else ''}{self.url}"

    def join(self, path: str) -> str:
        """The URL of something below the dataset."""
        return self.url + path


def base_url(text: str) -> str:
    """A checked `http(s)` URL with a slash at its end; raises `InvalidReference`."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme.lower() in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidReference(
            f"{text!r} is no address of a dataset: use odf+https://, odf+http://, https:// or http://."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidReference(
            "An address of a dataset has no user name, query or fragment; tokens are kept by `odf login`."
        )
    path = parts.path if parts.path.endswith("/") else parts.path + "/"
    return urlunsplit((parts.scheme.lower(), parts.netloc, quote(path, safe=_PATH_CHARACTERS), "", ""))


@dataclass(frozen=True, slots=True)
class Resolver:
    """Turns references into addresses. `repos` maps names to URLs as registered (with or without
    `odf+`), `api` opens a repository's REST interface at a URL without it."""

    repos: Mapping[RepoName, str]
    api: Callable[[str], RepositoryApi]

    def pull(self, reference: DatasetUrl | DatasetAliasRemote | DatasetIdRemote) -> DatasetAddress:
        """The address to pull from. Raises `AddressUnresolved`, and what the look-ups raise."""
        if isinstance(reference, DatasetUrl):
            return DatasetAddress.parse(reference.url)
        repo = self._repo(reference.repo)
        if isinstance(reference, DatasetIdRemote):
            return self._by_id(repo, reference.id)
        account = reference.account
        if account is None and repo.smart and self.api(repo.url).is_multi_tenant():
            account = self.api(repo.url).own_account()
            if account is None:
                raise AddressUnresolved(
                    f"{reference.repo!s} has accounts: say whose dataset it is, {reference.repo!s}/ACCOUNT/"
                    f"{reference.name!s}, or {login_hint(repo.url)}.",
                    objects=[reference],
                )
        return _below(repo, account, reference.name)

    def push(
        self, target: str | None, *, dataset_id: DatasetId, name: DatasetName, saved: tuple[str, ...]
    ) -> DatasetAddress:
        """The address to push to: `target` (URL, `repo`, `repo/[account/]name`), else the one saved
        address, else the only repository. Raises `AddressUnresolved`, `RemoteReadOnly`."""
        if target is None:
            if len(saved) == 1:
                return DatasetAddress.parse(saved[0])
            if saved or len(self.repos) != 1:
                known = ", ".join(saved or [str(repo) for repo in self.repos]) or "none are known"
                raise AddressUnresolved(
                    f"Say where to push: a URL or a repository ({known}).", objects=saved or self.repos
                )
            target = str(next(iter(self.repos)))
        if "://" in target:
            address = DatasetAddress.parse(target)
            if not address.smart:
                raise RemoteReadOnly(
                    f"{target} is an address of the read-only Simple protocol; push to {_SMART}{target}.",
                    objects=[target],
                )
            return address
        return self._push_to_repo(target, dataset_id, name)

    def _push_to_repo(self, target: str, dataset_id: DatasetId, name: DatasetName) -> DatasetAddress:
        account: AccountName | None = None
        if "/" in target:
            alias = DatasetAliasRemote.parse(target)
            repo, account, name = self._repo(alias.repo), alias.account, alias.name
        else:
            repo = self._repo(RepoName(target))
            name = self._known_name(repo, dataset_id) or name
        # Pushing is always Smart, however the repository was registered (wire.md 1.3).
        repo = DatasetAddress(repo.url, smart=True)
        return _below(repo, account or self._pushing_account(repo), name)

    def _repo(self, name: RepoName | None) -> DatasetAddress:
        if name is None:
            raise AddressUnresolved("A dataset by its id needs a repository: write repo/did:odf:….")
        url = self.repos.get(name)
        if url is None:
            raise AddressUnresolved(
                f"There is no repository {name!s}; add it with `odf repo add {name!s} URL`.", objects=[name]
            )
        return DatasetAddress.parse(url)

    def _pushing_account(self, repo: DatasetAddress) -> AccountName | None:
        """The account to push to: that of the token, none on a node without accounts."""
        api = self.api(repo.url)
        if not api.is_multi_tenant():
            return None
        account = api.own_account()
        if account is None:
            raise RemoteUnauthenticated(
                f"{repo.url} wants to know who pushes; {login_hint(repo.url)}.",
                objects=[repo.url],
            )
        return account

    def _known_name(self, repo: DatasetAddress, dataset_id: DatasetId) -> DatasetName | None:
        known = self.api(repo.url).dataset(dataset_id)
        return known.name if known is not None else None

    def _by_id(self, repo: DatasetAddress, dataset_id: DatasetId) -> DatasetAddress:
        api = self.api(repo.url)
        known = api.dataset(dataset_id)
        if known is None:
            why = unseen(repo.url, with_token=api.token is not None)
            raise AddressUnresolved(f"{repo} does not know {dataset_id}, or {why}.", objects=[dataset_id])
        return _below(repo, known.account if api.is_multi_tenant() else None, known.name)


def _below(repo: DatasetAddress, account: AccountName | None, name: DatasetName) -> DatasetAddress:
    path = f"{account}/{name}/" if account is not None else f"{name}/"
    return DatasetAddress(repo.url + path, repo.smart)
