"""`POST …/verification`, its status, and `GET …/attestations`."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.database import begin, connect
from app.datasets.addressing import Address
from app.datasets.model import Action
from app.datasets.service import open_dataset
from app.http import Node
from app.jobs.routes import ACCEPTED, VerificationResult, answer_of_job
from app.routing import readable, refusal
from app.verification.requests import Level, VerifyRequest, start_verification
from app.verification.service import Verdict, read_envelopes, read_status
from odf_core.identity import Multihash

router = APIRouter(tags=["verification"])

_NOT_FOUND: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    404: refusal("No such dataset, or none that the caller may read"),
}


class VerificationStatus(BaseModel):
    """What is known of a dataset."""

    verdict: Verdict
    is_pending: bool = Field(alias="isPending", description="Whether a verification waits or is under way.")
    head: str | None = Field(None, description="The block up to which it was verified last.")
    is_current: bool = Field(alias="isCurrent", description="Whether that block is still the head.")
    verified_at: str | None = Field(None, alias="verifiedAt", description="RFC 3339.")
    level: Level | None = None
    finding: VerificationResult | None = None


class DsseSignature(BaseModel):
    """A signature over the payload and its type, as DSSE has it."""

    keyid: str = Field(description="`did:key` of the node.")
    sig: str = Field(description="Ed25519, base64.")


class Envelope(BaseModel):
    """An in-toto statement in a DSSE envelope."""

    model_config = ConfigDict(populate_by_name=True)

    payload_type: str = Field(alias="payloadType")
    payload: str = Field(description="The statement as JSON, base64.")
    signatures: list[DsseSignature]


class Attestations(BaseModel):
    """Signed findings about a dataset."""

    attestations: list[Envelope]


@router.post(
    "/verification",
    summary="Verify a dataset",
    response_model=VerificationResult,
    responses={
        **ACCEPTED,
        **_NOT_FOUND,
        403: refusal("The caller may read the dataset, but not write to it"),
    },
)
async def verify(
    node: Node,
    caller: CurrentCaller,
    address: Address,
    level: Annotated[
        Level, Query(description="`replay` also evaluates each step of a derivative dataset again.")
    ] = Level.REPLAY,
    first: Annotated[
        str | None, Query(alias="from", max_length=1024, description="First block whose step is replayed.")
    ] = None,
    last: Annotated[
        str | None, Query(alias="to", max_length=1024, description="Last block whose step is replayed.")
    ] = None,
    recursive: Annotated[
        bool,
        Query(
            description="Also everything that the dataset is computed from, as far as the caller may read; "
            "of that all blocks."
        ),
    ] = False,
) -> Response:
    """A job reads every block and file and replays the steps; its finding is kept, signed by the node.

    What is wrong with the dataset is the finding, not an error of the request. With `recursive` each dataset
    upstream is verified once and has a finding of its own, which is kept beside it unless it says less than
    one that its owner would have; an input that could not be verified is a finding too. How far the job is
    stands in its `progress`.
    """
    caller.require_valid_token()
    account = caller.require_account()
    ends = [None if text is None else str(Multihash.parse(text)) for text in (first, last)]
    request = VerifyRequest(level, ends[0], ends[1], recursive)
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.MANAGE)
    async with begin(node.engine) as conn:
        job_id = await start_verification(conn, dataset.pk, account.id, request)
    return await answer_of_job(node, job_id)


@readable(
    router,
    "/verification",
    summary="What is known of a dataset",
    responses=_NOT_FOUND,
    response_model_exclude_none=True,
)
async def read_verification(node: Node, caller: CurrentCaller, address: Address) -> VerificationStatus:
    """The verdict of the last verification on this node, in short."""
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
        found = await read_status(conn, dataset)
    summary = found.summary or {}
    return VerificationStatus(
        verdict=found.verdict,
        isPending=found.is_pending,
        head=None if found.head is None else str(found.head),
        isCurrent=found.head == dataset.head,
        verifiedAt=None if found.made_at is None else found.made_at.isoformat(),
        level=summary.get("level"),
        finding=None if found.summary is None else VerificationResult(**summary),
    )


@readable(router, "/attestations", summary="Signed findings about a dataset", responses=_NOT_FOUND)
async def read_attestations(node: Node, caller: CurrentCaller, address: Address) -> Attestations:
    """What verifications on this node have found, the last one first: in-toto statements in DSSE envelopes,
    signed with the node's key.
    """
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
        found = await read_envelopes(conn, dataset)
    return Attestations(attestations=[Envelope(**item) for item in found])
