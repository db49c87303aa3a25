"""What a session is about: the dataset behind the address, and who asks."""

from dataclasses import dataclass
from typing import ClassVar

from app.datasets.model import DatasetInfo
from app.transfer.object_urls import Requester
from odf_core.errors import Conflict, NotFound
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.transfer.errors import DatasetIdMismatch


class DatasetGone(NotFound):
    """The dataset was deleted while a session was about it."""

    code: ClassVar[str] = "dataset_gone"


class ChainReplaced(Conflict):
    """A forced push replaced the chain between a plan and its blocks."""

    code: ClassVar[str] = "chain_replaced"


@dataclass(frozen=True, slots=True)
class Target:
    """An address as one handshake resolved it; `dataset` is None where a push may create one."""

    alias: DatasetAlias
    requester: Requester
    dataset: DatasetInfo | None = None


def require_same_id(told: DatasetId | None, actual: DatasetId) -> None:
    """The published dialect names the dataset; raises `DatasetIdMismatch` for another than `actual`."""
    if told is not None and told != actual:
        raise DatasetIdMismatch(f"The request is about {told}, but this is {actual}.", objects=[told, actual])
