"""The catalogue of messages: what may be said, by whom, answering to which phase (wire.md 3.4, 3.5).

A dialect has one codec for each of these; a session says which of them may come next.
"""

import enum
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from odf_core.transfer import model
from odf_core.transfer.model import Phase

T = TypeVar("T")


class Party(enum.Enum):
    """Who sends."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True, slots=True, eq=False)
class Message(Generic[T]):
    """One kind of message; `T` is its value in `model`."""

    name: str
    sender: Party
    phase: Phase
    summary: str

    def __str__(self) -> str:
        return self.name.replace("_", " ")


PULL_REQUEST: Message[model.PullRequest] = Message(
    "pull_request", Party.CLIENT, Phase.PULL_INITIAL, "Asks for an interval of the chain."
)
PULL_RESPONSE: Message[model.TransferPlan] = Message(
    "pull_response", Party.SERVER, Phase.PULL_INITIAL, "Says what the interval holds; 0 blocks: up to date."
)
PULL_METADATA_REQUEST: Message[model.MetadataRequest] = Message(
    "pull_metadata_request", Party.CLIENT, Phase.PULL_METADATA, "Asks for the blocks of the plan."
)
PULL_METADATA_RESPONSE: Message[model.BlocksBatch] = Message(
    "pull_metadata_response", Party.SERVER, Phase.PULL_METADATA, "The blocks, oldest first."
)
PULL_OBJECTS_REQUEST: Message[model.ObjectsRequest] = Message(
    "pull_objects_request",
    Party.CLIENT,
    Phase.PULL_OBJECTS,
    "Asks where to fetch objects; may be repeated, also to renew expired URLs.",
)
PULL_OBJECTS_RESPONSE: Message[model.PullObjects] = Message(
    "pull_objects_response", Party.SERVER, Phase.PULL_OBJECTS, "Where to fetch each object."
)
PUSH_REQUEST: Message[model.PushRequest] = Message(
    "push_request", Party.CLIENT, Phase.PUSH_INITIAL, "Announces blocks that follow a head."
)
PUSH_RESPONSE: Message[model.PushAccepted] = Message(
    "push_response", Party.SERVER, Phase.PUSH_INITIAL, "Takes the plan."
)
PUSH_METADATA: Message[model.BlocksBatch] = Message(
    "push_metadata", Party.CLIENT, Phase.PUSH_METADATA, "The new blocks, oldest first."
)
PUSH_METADATA_RESPONSE: Message[model.MetadataAccepted] = Message(
    "push_metadata_response", Party.SERVER, Phase.PUSH_METADATA, "Takes the blocks."
)
PUSH_OBJECTS_REQUEST: Message[model.ObjectsRequest] = Message(
    "push_objects_request", Party.CLIENT, Phase.PUSH_OBJECTS, "Asks where to send the new blocks' objects."
)
PUSH_OBJECTS_RESPONSE: Message[model.PushObjects] = Message(
    "push_objects_response",
    Party.SERVER,
    Phase.PUSH_OBJECTS,
    "Where to send each object, or that it is there.",
)
PUSH_PROGRESS_REQUEST: Message[model.ProgressRequest] = Message(
    "push_progress_request", Party.SERVER, Phase.PUSH_UPLOADS, "Asks how far the uploads are."
)
PUSH_PROGRESS: Message[model.Progress] = Message(
    "push_progress", Party.CLIENT, Phase.PUSH_UPLOADS, "How many objects are uploaded, or that all are."
)
PUSH_COMPLETE: Message[model.PushComplete] = Message(
    "push_complete", Party.CLIENT, Phase.PUSH_COMPLETE, "Everything is sent; the node may commit."
)
PUSH_CONFIRMED: Message[model.PushConfirmed] = Message(
    "push_confirmed", Party.SERVER, Phase.PUSH_COMPLETE, "The node has committed."
)

MESSAGES: tuple[Message[Any], ...] = (
    PULL_REQUEST,
    PULL_RESPONSE,
    PULL_METADATA_REQUEST,
    PULL_METADATA_RESPONSE,
    PULL_OBJECTS_REQUEST,
    PULL_OBJECTS_RESPONSE,
    PUSH_REQUEST,
    PUSH_RESPONSE,
    PUSH_METADATA,
    PUSH_METADATA_RESPONSE,
    PUSH_OBJECTS_REQUEST,
    PUSH_OBJECTS_RESPONSE,
    PUSH_PROGRESS_REQUEST,
    PUSH_PROGRESS,
    PUSH_COMPLETE,
    PUSH_CONFIRMED,
)
