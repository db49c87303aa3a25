"""The small messages of a pull in the published dialect."""

from typing import Annotated, Literal

from pydantic import FailFast

from odf_core.transfer import model
from odf_core.transfer.dialects.fields import DatasetIdText, HashText, Json, hash_text
from odf_core.transfer.dialects.published.structures import (
    ObjectFileReference,
    ObjectsBatch,
    TransferSizeEstimation,
    TransferUrl,
    Wire,
    present,
)
from odf_core.transfer.errors import DialectLimitation


class DatasetPullRequest(Wire):
    """Asks for the blocks after `beginAfter` (absent: from the seed) up to `stopAt` (absent: the head)."""

    dataset_id: DatasetIdText
    begin_after: HashText | None = None
    stop_at: HashText | None = None

    def value(self) -> model.PullRequest:
        return model.PullRequest(self.dataset_id, self.begin_after, self.stop_at)

    @classmethod
    def of(cls, request: model.PullRequest) -> Json:
        if request.dataset_id is None:
            raise DialectLimitation("The published dialect needs the dataset's id to pull.")
        if request.force:
            raise DialectLimitation("The published dialect has no forced pull; use the deployed one.")
        return present(
            datasetId=str(request.dataset_id),
            beginAfter=hash_text(request.begin_after),
            stopAt=hash_text(request.stop_at),
        )


class DatasetPullResponse(Wire):
    """Says what the interval holds."""

    size_estimation: TransferSizeEstimation

    def value(self) -> model.TransferPlan:
        return self.size_estimation.value()

    @classmethod
    def of(cls, plan: model.TransferPlan) -> Json:
        return {"sizeEstimation": TransferSizeEstimation.of(plan)}


class DatasetMetadataPullResponse(Wire):
    """The blocks."""

    blocks: ObjectsBatch


class DatasetPullObjectsTransferRequest(Wire):
    """Asks where to fetch objects; may be repeated."""

    object_files: Annotated[tuple[ObjectFileReference, ...], FailFast()]

    def value(self) -> model.ObjectsRequest:
        return model.ObjectsRequest(tuple(item.value() for item in self.object_files))

    @classmethod
    def of(cls, request: model.ObjectsRequest) -> Json:
        return {"objectFiles": [ObjectFileReference.of(item) for item in request.objects]}


class PullObjectTransferStrategy(Wire):
    """How one object is downloaded."""

    object_file: ObjectFileReference
    pull_strategy: Literal["HttpDownload"]
    download_from: TransferUrl

    def value(self) -> model.PullStrategy:
        return model.PullStrategy(self.object_file.value(), self.download_from.value())

    @classmethod
    def of(cls, strategy: model.PullStrategy) -> Json:
        return {
            "objectFile": ObjectFileReference.of(strategy.object),
            "pullStrategy": "HttpDownload",
            "downloadFrom": TransferUrl.of(strategy.url),
        }


class DatasetPullObjectsTransferResponse(Wire):
    """Where to fetch each object."""

    object_transfer_strategies: Annotated[tuple[PullObjectTransferStrategy, ...], FailFast()]

    def value(self) -> model.PullObjects:
        return model.PullObjects(tuple(item.value() for item in self.object_transfer_strategies))

    @classmethod
    def of(cls, objects: model.PullObjects) -> Json:
        strategies = [PullObjectTransferStrategy.of(item) for item in objects.strategies]
        return {"objectTransferStrategies": strategies}
