"""`POST /mirrors`: a dataset of a registered repository is brought here, and kept as it is there."""

from datetime import datetime

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.bodies import body_of, read_model
from app.database import connect
from app.http import Node
from app.jobs.routes import ACCEPTED, JobError, MirrorResult, answer_of_job
from app.mirrors.requests import ask_for_mirror
from app.mirrors.service import MirrorInfo, list_mirrors
from app.routing import readable, refusal

router = APIRouter(tags=["mirrors"])


class MirrorBody(BaseModel):
    """What is to be mirrored."""

    model_config = ConfigDict(extra="forbid")

    source: str = Field(
        max_length=4096,
        description="`repository/account/name`, `did:odf:…`, `repository/did:odf:…`, or the URL of a dataset "
        "on a repository that the operator has registered.",
        examples=["central/alice/prices"],
    )
    name: str | None = Field(None, max_length=253, description="What it is called here; default: as there.")
    recursive: bool = Field(
        False, description="Also all that it is computed from, so that it can be replayed."
    )
    force: bool = Field(
        False,
        description="Let the source's chain replace the mirror's, where it was reset or replaced there.",
    )


class MirrorStatus(BaseModel):
    """A mirror of the caller's."""

    id: str = Field(description="DID of the dataset.")
    dataset: str = Field(description="`account/name` on this node.")
    source: str = Field(description="`repository/account/name`.")
    recursive: bool
    visibility: str
    head: str
    polled_at: datetime = Field(
        alias="polledAt", description="When its source was last to be asked by itself."
    )
    state: str | None = Field(None, description="Of the last job; absent where that is forgotten.")
    error: JobError | None = Field(None, description="Why the last job failed, where it did.")


class Mirrors(BaseModel):
    """Mirrors, by owner and name."""

    mirrors: list[MirrorStatus]


@router.post(
    "/mirrors",
    summary="Mirror a dataset of another node",
    response_model=MirrorResult,
    responses={
        **ACCEPTED,
        **REFUSALS,
        400: refusal("Not on a repository that the operator has registered"),
        403: refusal("The mirror is another account's, and its chain would be replaced"),
        404: refusal("No registered repository has the dataset, or shows it to the caller"),
        409: refusal("The dataset is here already, or its source was reset or replaced"),
        413: refusal("More bytes than the node takes"),
    },
    openapi_extra=body_of(MirrorBody),
)
async def mirror(request: Request, node: Node, caller: CurrentCaller) -> Response:
    """A job pulls the dataset, checks all of it as a push would be checked, and from then on asks for news.

    What anybody may read at the source is public here; what is read with the operator's token is private to
    the caller, who has to be one of those that may use it. Nobody pushes into a mirror.
    """
    caller.require_valid_token()
    account = caller.require_account()
    body = await read_model(request, MirrorBody, node.settings.bounds.http_body_bytes)
    job_id = await ask_for_mirror(
        node, account, body.source, name=body.name, recursive=body.recursive, force=body.force
    )
    return await answer_of_job(node, job_id)


@readable(
    router, "/mirrors", summary="The caller's mirrors", responses=REFUSALS, response_model_exclude_none=True
)
async def read_mirrors(node: Node, caller: CurrentCaller) -> Mirrors:
    """What is mirrored for the caller, and how it goes; an admin sees all."""
    caller.require_valid_token()
    account = caller.require_account()
    async with connect(node.engine) as conn:
        found = await list_mirrors(conn, None if account.is_admin else account.id)
    return Mirrors(mirrors=[_status(item) for item in found])


def _status(item: MirrorInfo) -> MirrorStatus:
    dataset = item.dataset
    return MirrorStatus(
        id=str(dataset.id),
        dataset=str(dataset.alias),
        source=dataset.mirror_of or "",
        recursive=item.is_recursive,
        visibility=dataset.visibility,
        head=str(dataset.head),
        polledAt=item.polled_at,
        state=item.state,
        error=None if item.error is None else JobError(**item.error),
    )
