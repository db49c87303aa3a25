"""From a path to a dataset's address, in both tenancies (wire.md 1.1)."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from app.datasets.errors import InvalidDatasetAddress, InvalidHashInPath
from app.datasets.model import DatasetAddress
from app.http import node_context
from app.settings import Settings
from odf_core.errors import InvalidInput
from odf_core.identity import AccountName, DatasetName, Multihash

MULTI_PREFIX = "/{account}/{dataset}"
SINGLE_PREFIX = "/{dataset}"


def dataset_prefix_of(settings: Settings) -> str:
    """The path pattern below which everything of one dataset lies."""
    return SINGLE_PREFIX if settings.tenancy == "single" else MULTI_PREFIX


def dataset_address(connection: HTTPConnection) -> DatasetAddress:
    """The dataset that a request or WebSocket is about; raises `InvalidDatasetAddress`."""
    parts = connection.path_params
    account = parts.get("account", node_context(connection).settings.accounts.default_account)
    try:
        return DatasetAddress(AccountName(account), DatasetName(parts["dataset"]))
    except InvalidInput as error:
        raise InvalidDatasetAddress(
            f"The address names no dataset: {error.message}", objects=[connection.scope["path"]]
        ) from error


async def _address(connection: HTTPConnection) -> DatasetAddress:
    return dataset_address(connection)  # FastAPI sends a plain function to a thread


Address = Annotated[DatasetAddress, Depends(_address)]


def hash_in_path(text: str) -> Multihash:
    """The hash at the end of a path, in any multibase spelling; raises `InvalidHashInPath`."""
    try:
        return Multihash.parse(text)
    except InvalidInput as error:
        raise InvalidHashInPath(f"The address ends in no hash: {error.message}") from error
