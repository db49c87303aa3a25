"""The small messages of a push in the published dialect."""

from typing import Annotated, Literal

from pydantic import FailFast, model_validator

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


class DatasetPushRequest(Wire):
    """Announces blocks that follow `currentHead` (absent or null: there is no head yet)."""

    dataset_id: DatasetIdText
    current_head: HashText | None = None
    size_estimation: TransferSizeEstimation

    def value(self) -> model.PushRequest:
        return model.PushRequest(self.dataset_id, self.current_head, self.size_estimation.value())

    @classmethod
    def of(cls, request: model.PushRequest) -> Json:
        if request.dataset_id is None:
            raise DialectLimitation("The published dialect needs the dataset's id to push.")
        if request.force:
            raise DialectLimitation("The published dialect has no forced push; use the deployed one.")
        if request.visibility is not model.Visibility.PRIVATE:
            raise DialectLimitation("The published dialect creates private datasets only.")
        return present(
            datasetId=str(request.dataset_id),
            currentHead=hash_text(request.current_head),
            sizeEstimation=TransferSizeEstimation.of(request.plan),
        )


class DatasetPushMetadata(Wire):
    """The new blocks."""

    new_blocks: ObjectsBatch


class DatasetPushObjectsTransferRequest(Wire):
    """Asks where to send objects; may be repeated."""

    object_files: Annotated[tuple[ObjectFileReference, ...], FailFast()]

    def value(self) -> model.ObjectsRequest:
        return model.ObjectsRequest(tuple(item.value() for item in self.object_files))

    @classmethod
    def of(cls, request: model.ObjectsRequest) -> Json:
        return {"objectFiles": [ObjectFileReference.of(item) for item in request.objects]}


class PushObjectTransferStrategy(Wire):
    """How one object is uploaded, or that it need not be."""

    object_file: ObjectFileReference
    push_strategy: Literal["SkipUpload", "HttpUpload"]
    upload_to: TransferUrl | None = None

    @model_validator(mode="after")
    def _has_url(self) -> "PushObjectTransferStrategy":
        if self.push_strategy == "HttpUpload" and self.upload_to is None:
            raise ValueError("HttpUpload without uploadTo")
        return self

    def value(self) -> model.PushStrategy:
        target = None if self.push_strategy == "SkipUpload" else self.upload_to
        return model.PushStrategy(self.object_file.value(), None if target is None else target.value())

    @classmethod
    def of(cls, strategy: model.PushStrategy) -> Json:
        return present(
            objectFile=ObjectFileReference.of(strategy.object),
            pushStrategy="SkipUpload" if strategy.upload_to is None else "HttpUpload",
            uploadTo=None if strategy.upload_to is None else TransferUrl.of(strategy.upload_to),
        )


class DatasetPushObjectsTransferResponse(Wire):
    """Where to send each object."""

    object_transfer_strategies: Annotated[tuple[PushObjectTransferStrategy, ...], FailFast()]

    def value(self) -> model.PushObjects:
        return model.PushObjects(tuple(item.value() for item in self.object_transfer_strategies))

    @classmethod
    def of(cls, objects: model.PushObjects) -> Json:
        strategies = [PushObjectTransferStrategy.of(item) for item in objects.strategies]
        return {"objectTransferStrategies": strategies}
