"""Whether pushed steps of derivative datasets are evaluated again, per node, account and dataset."""

from collections.abc import Mapping
from typing import Literal

from odf_core.errors import InvalidInput
from odf_core.identity import AccountName, DatasetAlias, DatasetName

ReplayMode = Literal["none", "after", "before"]


def folded_modes(value: Mapping[str, ReplayMode]) -> dict[str, ReplayMode]:
    """By `account` or `account/dataset` in small letters. Raises `ValueError` for what is neither."""
    found: dict[str, ReplayMode] = {}
    for text, mode in value.items():
        account, slash, name = text.partition("/")
        try:
            folded = AccountName(account).folded
            found[f"{folded}/{DatasetName(name).folded}" if slash else folded] = mode
        except InvalidInput as error:
            raise ValueError(error.message) from error
    return found


def replay_mode(modes: Mapping[str, ReplayMode], default: ReplayMode, alias: DatasetAlias) -> ReplayMode:
    """That of the dataset, else of its account, else the node's."""
    account = "" if alias.account is None else alias.account.folded
    return modes.get(f"{account}/{alias.name.folded}", modes.get(account, default))
