"""New datasets over HTTP: `POST /datasets` with a manifest."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.bodies import A_MANIFEST, read_body
from app.datasets.info_routes import Owner
from app.http import Node
from app.ingest.creation import create_from_snapshot
from app.routing import refusal
from odf_core.metadata import Timestamp
from odf_core.transfer.model import Visibility

router = APIRouter(tags=["ingest"])


class CreatedDataset(BaseModel):
    """A dataset that was made."""

    id: str = Field(description="DID of the dataset.")
    owner: Owner
    dataset_name: str = Field(alias="datasetName")
    head: str
    num_blocks: int = Field(alias="numBlocks")
    visibility: str
    job: str | None = Field(
        None, description="Of a derivative dataset: where to ask for the job that computes it."
    )


@router.post(
    "/datasets",
    summary="Make a dataset from a manifest",
    status_code=201,
    responses={
        **REFUSALS,
        403: refusal("The manifest names another account, or does what this node forbids"),
        409: refusal("The caller has a dataset of this name"),
        413: refusal("The manifest is too large"),
    },
    response_model_exclude_none=True,
    openapi_extra=A_MANIFEST,
)
async def create_dataset(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    visibility: Annotated[
        Visibility | None,
        Query(description="Who may see it: `Private` (only the owner) or `Public`; default: `Private`."),
    ] = None,
) -> CreatedDataset:
    """A `DatasetSnapshot` in YAML or JSON becomes a dataset of the caller, whole or not at all.

    A derivative dataset is computed by the node from then on, whenever an input moves; its query is checked
    first where its engine answers quickly, else by the job.
    """
    caller.require_valid_token()
    caller.require_account()
    text = await read_body(request, node.settings.bounds.manifest_bytes)
    made = await create_from_snapshot(node, caller, text, visibility or Visibility.PRIVATE, Timestamp.now())
    dataset = made.dataset
    return CreatedDataset(
        id=str(dataset.id),
        owner=Owner(accountName=dataset.owner_name, accountId=dataset.owner_did),
        datasetName=dataset.name,
        head=str(dataset.head),
        numBlocks=made.num_blocks,
        visibility=dataset.visibility,
        job=None if made.job_id is None else f"/jobs/{made.job_id}",
    )
