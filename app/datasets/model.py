"""Values of datasets."""

import enum
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from odf_core.identity import AccountName, DatasetAlias, DatasetId, DatasetName, Multihash


class Action(enum.Enum):
    """What a caller wants of a dataset."""

    READ = "read"
    MANAGE = "manage"
    """Have it verified or brought up to date, whoever writes its chain."""
    WRITE = "write"
    """Commit to its chain."""


@dataclass(frozen=True, slots=True)
class DatasetAddress:
    """Where a dataset is asked for; in a single-tenant node the account is the default one."""

    account: AccountName
    name: DatasetName

    @property
    def alias(self) -> DatasetAlias:
        return DatasetAlias(self.account, self.name)

    def __str__(self) -> str:
        return f"{self.account}/{self.name}"


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset with its committed head; `mirror_of` is the source that it follows (`repo/account/name`)."""

    pk: int
    id: DatasetId
    owner_id: UUID
    owner_name: str
    owner_did: str
    name: str
    visibility: str
    kind: str
    head: Multihash
    head_sequence_number: int
    created_at: datetime
    updated_at: datetime
    mirror_of: str | None = None

    @property
    def is_public(self) -> bool:
        return self.visibility == "public"

    @property
    def alias(self) -> DatasetAlias:
        return DatasetAlias(AccountName(self.owner_name), DatasetName(self.name))
