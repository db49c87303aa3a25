"""The few REST calls that a transfer needs of a repository (wire.md 6.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from odf_core.errors import AccessDenied, InvalidInput, NotFound, OdfError
from odf_core.identity import AccountName, DatasetAlias, DatasetId, DatasetName, Multihash
from odf_core.transfer.client.answers import unseen
from odf_core.transfer.client.errors import RemoteDatasetNotFound, RemoteUnauthenticated, UnexpectedAnswer
from odf_core.transfer.client.http import VERSION_HEADER, Http

_HEAD_BYTES = 4096


def bearer(token: str | None) -> dict[str, str]:
    """The header of a token, none for an anonymous caller."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def remote_head(http: Http, dataset_url: str, token: str | None) -> Multihash:
    """The head of the dataset at `dataset_url` (with a slash at its end).

    Raises `RemoteDatasetNotFound`, the errors of other statuses, `UnexpectedAnswer` where the body is
    no hash.
    """

    def missing(url: str) -> OdfError:
        return RemoteDatasetNotFound(
            f"There is no dataset at {dataset_url}, or {unseen(url, with_token=token is not None)}.",
            objects=[dataset_url],
        )

    headers = {**bearer(token), **dict([VERSION_HEADER])}
    body = http.get_text(dataset_url + "refs/head", headers, max_bytes=_HEAD_BYTES, missing=missing)
    try:
        # Static servers of files made by hand often end them with a newline.
        return Multihash.parse(body.decode("ascii").strip())
    except (InvalidInput, UnicodeDecodeError) as error:
        raise UnexpectedAnswer(
            f"{dataset_url}refs/head holds no hash: this is no dataset.", objects=[dataset_url]
        ) from error


def has_block(http: Http, dataset_url: str, token: str | None, block_hash: Multihash) -> bool:
    """Whether the dataset at `dataset_url` serves this block."""
    with http.open("GET", f"{dataset_url}blocks/{block_hash}", bearer(token)) as answer:
        return answer.status == 200


@dataclass(frozen=True, slots=True)
class RemoteDataset:
    """What a repository says about a dataset that it knows by id."""

    account: AccountName | None
    name: DatasetName

    @property
    def alias(self) -> DatasetAlias:
        return DatasetAlias(self.account, self.name)


@dataclass(frozen=True, slots=True)
class RepositoryApi:
    """A repository at `url` (http(s), with a slash at its end). Every call raises the error of a
    status that is not told here, and `UnexpectedAnswer` for a body that is not the one due."""

    http: Http
    url: str
    token: str | None = None

    def is_multi_tenant(self) -> bool:
        """Whether addresses of datasets name their account; a node without `/info` has no accounts."""
        info = self._get("info")
        return info is not None and _member(info, "isMultiTenant", bool, self.url)

    def own_account(self) -> AccountName | None:
        """Name of the account whose token is used; None without one, or where the repository does not
        say. Raises `RemoteTokenRefused`."""
        try:
            account = self._get("accounts/me")
        except RemoteUnauthenticated:
            if self.token is not None:
                raise
            return None
        return None if account is None else AccountName(_member(account, "accountName", str, self.url))

    def dataset(self, dataset_id: DatasetId) -> RemoteDataset | None:
        """What the repository calls a dataset; None where it does not know it."""
        found = self._get(f"datasets/{dataset_id}")
        if found is None:
            return None
        owner = found.get("owner")
        account = owner.get("accountName") if isinstance(owner, dict) else None
        return RemoteDataset(
            AccountName(account) if isinstance(account, str) else None,
            DatasetName(_member(found, "datasetName", str, self.url)),
        )

    def _get(self, path: str) -> Mapping[str, Any] | None:
        """The JSON object at `path`, None for any 4xx but 401."""
        try:
            body = self.http.get_text(self.url + path, bearer(self.token))
        except RemoteUnauthenticated:  # also from a node where nobody may ask anything without a token
            raise
        except (AccessDenied, NotFound, InvalidInput):
            return None
        try:
            parsed = orjson.loads(body)
        except orjson.JSONDecodeError:
            parsed = None
        if not isinstance(parsed, dict):
            raise UnexpectedAnswer(f"{self.url}{path} did not answer with a JSON object.", objects=[self.url])
        return parsed


def _member(found: Mapping[str, Any], name: str, kind: type, url: str) -> Any:
    value = found.get(name)
    if not isinstance(value, kind):
        raise UnexpectedAnswer(f"The answer of {url} lacks {name!r}.", objects=[url])
    return value
