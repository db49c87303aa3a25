"""The small messages of a push in the deployed dialect (wire.md 3.5).

A model reads text into a `value()` of `transfer.model`; `of(value)` is the JSON object to send (plain,
because lists of thousands of objects pass here). Unknown fields are ignored, as
the deployed peers do; everything else is strict.
"""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, FailFast, Field, model_validator

from odf_core.transfer import model
from odf_core.transfer.dialects.deployed.structures import (
    Empty,
    ObjectFileReference,
    TransferPlan,
    TransferUrl,
    Wire,
)
from odf_core.transfer.dialects.fields import HashText, I32Count, Json, hash_text


def _capitalised(value: Any) -> Any:
    """`private` and `public` are read, too (wire.md 3.5)."""
    return {"private": "Private", "public": "Public"}.get(value, value) if isinstance(value, str) else value


class DatasetPushRequest(Wire):
    """Announces blocks that follow `current_head`, what the client takes for the node's head."""

    current_head: HashText | None = None
    transfer_plan: TransferPlan
    force_update_if_diverged: bool
    visibility_for_created_dataset: Annotated[model.Visibility, BeforeValidator(_capitalised)]

    def value(self) -> model.PushRequest:
        return model.PushRequest(
            None,
            self.current_head,
            self.transfer_plan.value(),
            self.force_update_if_diverged,
            self.visibility_for_created_dataset,
        )

    @classmethod
    def of(cls, request: model.PushRequest) -> Json:
        return {
            "current_head": hash_text(request.current_head),
            "transfer_plan": TransferPlan.of(request.plan),
            "force_update_if_diverged": request.force,
            "visibility_for_created_dataset": request.visibility.value,
        }


class DatasetPushResponse(Wire):
    """Takes the plan."""

    ok: Empty = Field(alias="Ok")

    def value(self) -> model.PushAccepted:
        return model.PushAccepted()

    @classmethod
    def of(cls, _accepted: model.PushAccepted) -> Json:
        return {"Ok": {}}


class DatasetPushMetadataResponse(Wire):
    """Takes the blocks; old peers say `{}` without the Result, which is read, too (wire.md 7.2)."""

    ok: Empty | None = Field(None, alias="Ok")

    def value(self) -> model.MetadataAccepted:
        return model.MetadataAccepted()

    @classmethod
    def of(cls, _accepted: model.MetadataAccepted) -> Json:
        return {"Ok": {}}


class DatasetPushObjectsTransferRequest(Wire):
    """Asks where to send objects; `is_truncated` announces a further request after these."""

    object_files: Annotated[tuple[ObjectFileReference, ...], FailFast()]
    is_truncated: bool

    def value(self) -> model.ObjectsRequest:
        return model.ObjectsRequest(tuple(item.value() for item in self.object_files), self.is_truncated)

    @classmethod
    def of(cls, request: model.ObjectsRequest) -> Json:
        files = [ObjectFileReference.of(item) for item in request.objects]
        return {"object_files": files, "is_truncated": request.is_truncated}


class PushObjectTransferStrategy(Wire):
    """How one object is uploaded, or that it need not be."""

    object_file: ObjectFileReference
    push_strategy: Literal["SkipUpload", "HttpUpload"]
    upload_to: TransferUrl | None = None

    @model_validator(mode="after")
    def _has_url(self) -> "PushObjectTransferStrategy":
        if self.push_strategy == "HttpUpload" and self.upload_to is None:
            raise ValueError("HttpUpload without upload_to")
        return self

    def value(self) -> model.PushStrategy:
        target = None if self.push_strategy == "SkipUpload" else self.upload_to
        return model.PushStrategy(self.object_file.value(), None if target is None else target.value())

    @classmethod
    def of(cls, strategy: model.PushStrategy) -> Json:
        return {
            "object_file": ObjectFileReference.of(strategy.object),
            "push_strategy": "SkipUpload" if strategy.upload_to is None else "HttpUpload",
            "upload_to": None if strategy.upload_to is None else TransferUrl.of(strategy.upload_to),
        }


class DatasetPushObjectsTransferSuccess(Wire):
    """Where to send each object."""

    object_transfer_strategies: Annotated[tuple[PushObjectTransferStrategy, ...], FailFast()]


class DatasetPushObjectsTransferResponse(Wire):
    """Answers the request for objects."""

    ok: DatasetPushObjectsTransferSuccess = Field(alias="Ok")

    def value(self) -> model.PushObjects:
        return model.PushObjects(tuple(item.value() for item in self.ok.object_transfer_strategies))

    @classmethod
    def of(cls, objects: model.PushObjects) -> Json:
        strategies = [PushObjectTransferStrategy.of(item) for item in objects.strategies]
        return {"Ok": {"object_transfer_strategies": strategies}}


class Running(Wire):
    """Uploads go on."""

    uploaded_objects_count: I32Count


class RunningDetails(Wire):
    """`{"Running": …}`."""

    running: Running = Field(alias="Running")


class DatasetPushObjectsUploadProgress(Wire):
    """How far the uploads are: a reply to a request for it, or that they are complete."""

    details: RunningDetails | Literal["Complete"]

    def value(self) -> model.Progress:
        if isinstance(self.details, RunningDetails):
            return model.Progress(self.details.running.uploaded_objects_count)
        return model.Progress(None)

    @classmethod
    def of(cls, progress: model.Progress) -> Json:
        if progress.uploaded_objects is None:
            return {"details": "Complete"}
        return {"details": {"Running": {"uploaded_objects_count": progress.uploaded_objects}}}
