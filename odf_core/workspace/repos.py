"""Repositories by name: where a person pulls from and pushes to."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from odf_core.errors import OdfError
from odf_core.identity import RepoName
from odf_core.workspace.errors import InvalidRepoUrl, RepoExists, RepoNotFound
from odf_core.workspace.files import read_mapping, text_members, write_mapping


class RepoRegistry(Mapping[RepoName, str]):
    """Names to URLs (`http(s)` or `odf+http(s)`), kept in one file of the workspace."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getitem__(self, name: RepoName) -> str:
        return self._load()[name]

    def __iter__(self) -> Iterator[RepoName]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def add(self, name: RepoName, url: str) -> str:
        """Register a repository; its URL as kept. Raises `RepoExists`, `InvalidRepoUrl`."""
        repos = self._load()
        kept = repo_url(url)
        if repos.get(name, kept) != kept:
            raise RepoExists(
                f"Repository {name!s} is registered as {repos[name]}; remove it first.", objects=[name]
            )
        self._save({**repos, name: kept})
        return kept

    def remove(self, name: RepoName) -> None:
        """Forget a repository. Raises `RepoNotFound`."""
        repos = self._load()
        if repos.pop(name, None) is None:
            raise RepoNotFound(f"There is no repository {name!s}.", objects=[name])
        self._save(repos)

    def _load(self) -> dict[RepoName, str]:
        found = text_members(read_mapping(self._path), self._path)
        return {RepoName(name): url for name, url in found.items()}

    def _save(self, repos: dict[RepoName, str]) -> None:
        write_mapping(self._path, {str.__str__(name): url for name, url in repos.items()})


def repo_url(text: str) -> str:
    """The URL as it is kept: a missing scheme means `odf+https`, a slash ends it. Raises `InvalidRepoUrl`."""
    from odf_core.transfer.client.addresses import DatasetAddress  # it brings HTTP along

    try:
        return str(DatasetAddress.parse(text if "://" in text else f"odf+https://{text}"))
    except OdfError as error:
        raise InvalidRepoUrl(
            f"{text!r} is no address of a repository: use odf+https://… or odf+http://….", objects=[text]
        ) from error
