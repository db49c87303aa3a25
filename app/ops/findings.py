"""What a reindex found: values, not exceptions, since one damaged dataset must not hide the others."""

import enum
from dataclasses import dataclass, field

from odf_core.errors import OdfError


class FindingKind(enum.StrEnum):
    """What is wrong. Of the first group the dataset was indexed nonetheless, of the second not."""

    OBJECT_MISSING = "object_missing"
    OBJECT_DAMAGED = "object_damaged"
    STRAY_BLOCK_DAMAGED = "stray_block_damaged"
    STRAY_FILE = "stray_file"
    ALIAS_MISSING = "alias_missing"
    INFO_DAMAGED = "info_damaged"
    INDEX_DIFFERS = "index_differs"

    HEAD_MISSING = "head_missing"
    HEAD_DAMAGED = "head_damaged"
    BLOCK_MISSING = "block_missing"
    BLOCK_DAMAGED = "block_damaged"
    CHAIN_INVALID = "chain_invalid"
    FOLDER_MISNAMED = "folder_misnamed"
    NAME_TAKEN = "name_taken"
    OWNER_CONFLICT = "owner_conflict"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be: what, in which dataset's folder, about which objects."""

    kind: FindingKind
    dataset_id: str
    message: str
    objects: tuple[str, ...] = ()

    @classmethod
    def of_error(cls, kind: FindingKind, dataset_id: str, error: OdfError) -> "Finding":
        return cls(kind, dataset_id, error.message, error.objects)


@dataclass(slots=True)
class ReindexReport:
    """What a reindex did and found."""

    datasets: int = 0
    blocks: int = 0
    objects: int = 0
    accounts_created: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
