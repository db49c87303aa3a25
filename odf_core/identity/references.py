"""References to datasets: by identifier, by alias, in a repository, by URL (metadata.md 7).

    DatasetAlias = (AccountName "/")? DatasetName
    DatasetAliasRemote = RepoName "/" (AccountName "/")? DatasetName
    DatasetRef = DatasetId / DatasetAlias
    DatasetRefRemote = (RepoName "/")? DatasetId / DatasetAliasRemote / Url

`a/b` is an account's dataset or a repository's: whether `a` is a known repository decides.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from odf_core.identity.did import DatasetId
from odf_core.identity.errors import InvalidDid, InvalidName, InvalidReference, shown
from odf_core.identity.names import AccountName, DatasetName, RepoName

MAX_URL_CHARS = 4096
"""Longest URL that is read as a reference."""

_DID = "did:odf:"
_URL = re.compile(r"[A-Za-z0-9]+(?:\+[A-Za-z0-9]+)*://[^\s\x00-\x1f\x7f]+")
# The grammar's multibase characters lack '-' and '_': base64url is read only where an id stands alone.
_REPO_AND_DID = re.compile(r"([^/]*)/(did:odf:[A-Za-z0-9+/=]+)")


@dataclass(frozen=True, slots=True)
class DatasetAlias:
    """`account/name`, or `name` in the caller's own account."""

    account: AccountName | None
    name: DatasetName

    @classmethod
    def parse(cls, text: str) -> "DatasetAlias":
        """Raises `InvalidReference`."""
        *account, name = _names(text, "a dataset alias", most=2)
        return cls(AccountName(account[0]) if account else None, DatasetName(name))

    def __str__(self) -> str:
        return f"{self.account}/{self.name}" if self.account is not None else str(self.name)


@dataclass(frozen=True, slots=True)
class DatasetAliasRemote:
    """`repo/account/name` or `repo/name`: a dataset of a repository that the workspace knows."""

    repo: RepoName
    account: AccountName | None
    name: DatasetName

    @classmethod
    def parse(cls, text: str) -> "DatasetAliasRemote":
        """Raises `InvalidReference`."""
        repo, *account, name = _names(text, "an alias in a repository", least=2, most=3)
        return cls(RepoName(repo), AccountName(account[0]) if account else None, DatasetName(name))

    def __str__(self) -> str:
        return "/".join(part for part in (self.repo, self.account, self.name) if part is not None)


@dataclass(frozen=True, slots=True)
class DatasetIdRemote:
    """A dataset by its identifier, in one repository, or wherever it is found (`repo` None)."""

    repo: RepoName | None
    id: DatasetId

    def __str__(self) -> str:
        return f"{self.repo}/{self.id}" if self.repo is not None else str(self.id)


@dataclass(frozen=True, slots=True)
class DatasetUrl:
    """A dataset by its address."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True, slots=True)
class AmbiguousAlias:
    """`first/name` before it is known whether `first` is an account or a repository."""

    first: AccountName
    name: DatasetName

    def resolve(self, is_repo: Callable[[str], bool]) -> DatasetAlias | DatasetAliasRemote:
        """The alias in the repository `first` if there is one, else that of the account `first`."""
        if is_repo(str(self.first)):
            return DatasetAliasRemote(RepoName(self.first), None, self.name)
        return DatasetAlias(self.first, self.name)


def parse_dataset_ref(text: str) -> DatasetId | DatasetAlias:
    """Reads DatasetRef; raises `InvalidDid` or `InvalidReference`."""
    return DatasetId.parse(text) if text.startswith(_DID) else DatasetAlias.parse(text)


def parse_dataset_ref_remote(text: str) -> DatasetIdRemote | DatasetAliasRemote | DatasetUrl:
    """Reads DatasetRefRemote; raises `InvalidDid` or `InvalidReference`."""
    return _id_or_url(text) or DatasetAliasRemote.parse(text)


def parse_dataset_ref_any(
    text: str, is_repo: Callable[[str], bool]
) -> DatasetAlias | DatasetAliasRemote | DatasetIdRemote | DatasetUrl:
    """Reads any form; `is_repo` says whether a name is a known repository.

    Raises `InvalidDid` or `InvalidReference`.
    """
    reference = split_dataset_ref_any(text)
    return reference.resolve(is_repo) if isinstance(reference, AmbiguousAlias) else reference


def split_dataset_ref_any(
    text: str,
) -> DatasetAlias | AmbiguousAlias | DatasetAliasRemote | DatasetIdRemote | DatasetUrl:
    """Reads any form, leaving `a/b` undecided. Raises `InvalidDid` or `InvalidReference`."""
    reference = _id_or_url(text)
    if reference is not None:
        return reference
    names = _names(text, "a dataset reference", most=3)
    if len(names) == 1:
        return DatasetAlias(None, DatasetName(names[0]))
    if len(names) == 2:
        return AmbiguousAlias(AccountName(names[0]), DatasetName(names[1]))
    return DatasetAliasRemote(RepoName(names[0]), AccountName(names[1]), DatasetName(names[2]))


def _id_or_url(text: str) -> DatasetIdRemote | DatasetUrl | None:
    if text.startswith(_DID):
        return DatasetIdRemote(None, DatasetId.parse(text))
    match = _REPO_AND_DID.fullmatch(text) if len(text) <= MAX_URL_CHARS else None
    if match is not None:
        try:
            return DatasetIdRemote(RepoName(match[1]), DatasetId.parse(match[2]))
        except (InvalidName, InvalidDid) as error:
            raise InvalidReference(f"{shown(text)} is not a dataset reference: {error.message}") from error
    if "://" in text:
        if len(text) > MAX_URL_CHARS or _URL.fullmatch(text) is None:
            raise InvalidReference(f"{shown(text)} is not a URL of at most {MAX_URL_CHARS} characters.")
        return DatasetUrl(text)
    return None


def _names(text: str, what: str, *, least: int = 1, most: int) -> list[str]:
    """The parts between slashes, each a valid name."""
    # One more cut than parts are allowed: a text of a million slashes is not taken apart.
    parts = text.split("/", most)
    try:
        if least <= len(parts) <= most:
            return [DatasetName(part) for part in parts]
    except InvalidName as error:
        raise InvalidReference(f"{shown(text)} is not {what}: {error.message}") from error
    raise InvalidReference(f"{shown(text)} is not {what}: it needs {least} to {most} names between slashes.")
