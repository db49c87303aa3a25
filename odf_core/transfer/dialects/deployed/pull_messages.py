"""The small messages of a pull in the deployed dialect (wire.md 3.4).

A model reads text into a `value()` of `transfer.model`; `of(value)` is the JSON object to send (plain,
because lists of thousands of objects pass here). Unknown fields are ignored, as
the deployed peers do; everything else is strict.
"""

from typing import Annotated, Literal

from pydantic import FailFast, Field

from odf_core.transfer import model
from odf_core.transfer.dialects.deployed.structures import (
    ObjectFileReference,
    TransferPlan,
    TransferUrl,
    Wire,
)
from odf_core.transfer.dialects.fields import HashText, Json, hash_text


class DatasetPullRequest(Wire):
    """Asks for the blocks after `begin_after` (null: from the seed) up to `stop_at` (null: the head)."""

    begin_after: HashText | None = None
    stop_at: HashText | None = None
    force_update_if_diverged: bool

    def value(self) -> model.PullRequest:
        return model.PullRequest(None, self.begin_after, self.stop_at, self.force_update_if_diverged)

    @classmethod
    def of(cls, request: model.PullRequest) -> Json:
        return {
            "begin_after": hash_text(request.begin_after),
            "stop_at": hash_text(request.stop_at),
            "force_update_if_diverged": request.force,
        }


class DatasetPullSuccess(Wire):
    """Says what the interval holds; `num_blocks` 0 if the client is up to date."""

    transfer_plan: TransferPlan


class DatasetPullResponse(Wire):
    """Answers the request of a pull."""

    ok: DatasetPullSuccess = Field(alias="Ok")

    def value(self) -> model.TransferPlan:
        return self.ok.transfer_plan.value()

    @classmethod
    def of(cls, plan: model.TransferPlan) -> Json:
        return {"Ok": {"transfer_plan": TransferPlan.of(plan)}}


class DatasetPullObjectsTransferRequest(Wire):
    """Asks where to fetch objects; may be repeated."""

    object_files: Annotated[tuple[ObjectFileReference, ...], FailFast()]

    def value(self) -> model.ObjectsRequest:
        return model.ObjectsRequest(tuple(item.value() for item in self.object_files))

    @classmethod
    def of(cls, request: model.ObjectsRequest) -> Json:
        return {"object_files": [ObjectFileReference.of(item) for item in request.objects]}


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
            "object_file": ObjectFileReference.of(strategy.object),
            "pull_strategy": "HttpDownload",
            "download_from": TransferUrl.of(strategy.url),
        }


class DatasetPullObjectsTransferResponse(Wire):
    """Where to fetch each object; not wrapped in a Result."""

    object_transfer_strategies: Annotated[tuple[PullObjectTransferStrategy, ...], FailFast()]

    def value(self) -> model.PullObjects:
        return model.PullObjects(tuple(item.value() for item in self.object_transfer_strategies))

    @classmethod
    def of(cls, objects: model.PullObjects) -> Json:
        strategies = [PullObjectTransferStrategy.of(item) for item in objects.strategies]
        return {"object_transfer_strategies": strategies}
