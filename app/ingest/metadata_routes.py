"""`POST …/metadata`: what a dataset says of itself, changed by events."""

from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.bodies import A_MANIFEST, read_body
from app.database import connect
from app.datasets.addressing import Address
from app.datasets.model import Action
from app.datasets.service import open_dataset
from app.http import Node
from app.ingest.evolving import Evolved, commit_events
from app.routing import refusal
from odf_core.identity import Multihash
from odf_core.metadata import Timestamp, event_kind

router = APIRouter(tags=["ingest"])

_REFUSALS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    400: refusal("An event cannot be read, or may not follow what the dataset has become"),
    403: refusal("The caller may read the dataset, but not write to it; or the node forbids the source"),
    404: refusal("No such dataset, or none that the caller may read"),
    409: refusal("The head is another than `expectedHead`"),
    413: refusal("The events are too large"),
}


class Change(StrEnum):
    """What became of an event."""

    NEW = "New"
    NONE = "None"


class EventOutcome(BaseModel):
    """One event of the request."""

    kind: str
    change: Change = Field(
        description="`New` with a block of its own, `None` where the dataset said so already."
    )


class MetadataCommit(BaseModel):
    """What a commit of events came to."""

    result: str = Field(description="`Updated`, or `UpToDate` where there is no new block.")
    dry_run: bool = Field(alias="dryRun")
    old_head: str = Field(alias="oldHead")
    new_head: str = Field(alias="newHead")
    num_blocks: int = Field(alias="numBlocks")
    events: list[EventOutcome]
    notes: list[str] = Field(description="Sentences about sources and a schema that do not fit together.")


@router.post(
    "/metadata",
    summary="Change a dataset's metadata",
    responses=_REFUSALS,
    openapi_extra=A_MANIFEST,
)
async def commit_metadata(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    address: Address,
    expected_head: Annotated[
        str | None,
        Query(alias="expectedHead", max_length=1024, description="Only if this is still the head."),
    ] = None,
    dry_run: Annotated[
        bool, Query(alias="dryRun", description="Check everything and say what would be; write nothing.")
    ] = False,
) -> MetadataCommit:
    """The body has one event or, in YAML, several documents of one event each: as a `DatasetSnapshot` lists
    them, or manifests of the kind `MetadataEvent`. All are committed, in their order, or none is.

    Sources, schema, vocabulary, transformation, info, license and attachments are changed so; data come in by
    ingest. One that says what the dataset says already makes no block.
    """
    caller.require_valid_token()
    caller.require_account()
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.WRITE)
    expected = Multihash.parse(expected_head) if expected_head is not None else None
    text = await read_body(request, node.settings.bounds.manifest_bytes)
    done = await commit_events(
        node, caller, dataset, text, Timestamp.now(), expected_head=expected, dry_run=dry_run
    )
    return _answer(done, dry_run)


def _answer(done: Evolved, dry_run: bool) -> MetadataCommit:
    return MetadataCommit(
        result="Updated" if done.old_head != done.new_head else "UpToDate",
        dryRun=dry_run,
        oldHead=str(done.old_head),
        newHead=str(done.new_head),
        numBlocks=0 if dry_run else len(done.evolution.blocks),
        events=[
            EventOutcome(
                kind=event_kind(step.event), change=Change.NONE if step.block is None else Change.NEW
            )
            for step in done.evolution.steps
        ],
        notes=list(done.evolution.notes),
    )
