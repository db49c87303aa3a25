"""The shapes of errors in the deployed dialect, for its document (wire.md 3.4 to 3.6)."""

from typing import Annotated, Literal

from pydantic import Field

from odf_core.transfer.dialects.deployed.structures import Empty, Wire
from odf_core.transfer.dialects.fields import DatasetIdText, HashText


class InvalidInterval(Wire):
    """The chain of `head` does not hold `tail`."""

    head: HashText
    tail: HashText


class InvalidHead(Wire):
    """`actual_head` is what the client claimed, `expected_head` the node's head (sic)."""

    actual_head: HashText | None = None
    expected_head: HashText | None = None


class RefCollision(Wire):
    """The dataset is stored under another name."""

    dataset_id: DatasetIdText


class NameCollision(Wire):
    """The name is taken by another dataset."""

    dataset_alias: str


class PullPhase(Wire):
    """A phase of a pull."""

    pull: Literal["InitialRequest", "MetadataRequest", "ObjectsRequest"] = Field(alias="Pull")


class PushPhase(Wire):
    """A phase of a push."""

    push: Literal[
        "InitialRequest",
        "MetadataRequest",
        "ObjectsRequest",
        "EnsuringTargetExists",
        "ObjectsUploadProgress",
        "CompleteRequest",
    ] = Field(alias="Push")


class TransferInternalError(Wire):
    """Every other error: `error_message` starts with one of the codes of this document and a colon.

    The phase is left out when the head moved during the commit, where the node's whole head takes its
    place in the 123 bytes of a close frame.
    """

    phase: PullPhase | PushPhase | None = None
    error_message: str


class InvalidIntervalError(Wire):
    """In the answer to a pull request, as text."""

    body: InvalidInterval = Field(alias="InvalidInterval")


class InvalidHeadError(Wire):
    """In the answer to a push request, as text."""

    body: InvalidHead = Field(alias="InvalidHead")


class SeedBlockOverwriteRestrictedError(Wire):
    """In the answer to the blocks, in a close frame."""

    body: Empty = Field(alias="SeedBlockOverwriteRestricted")


class RefCollisionError(Wire):
    """In the answer to the objects request of a push, in a close frame."""

    body: RefCollision = Field(alias="RefCollision")


class NameCollisionError(Wire):
    """In the answer to the objects request of a push, in a close frame."""

    body: NameCollision = Field(alias="NameCollision")


class InternalError(Wire):
    """Anywhere; as text in the answer to a pull request, else in a close frame."""

    body: TransferInternalError = Field(alias="Internal")


TransferError = Annotated[
    InvalidIntervalError
    | InvalidHeadError
    | SeedBlockOverwriteRestrictedError
    | RefCollisionError
    | NameCollisionError
    | InternalError,
    Field(union_mode="left_to_right"),
]


class ErrorResponse(Wire):
    """What may stand in place of every answer of the node."""

    err: TransferError = Field(alias="Err")
