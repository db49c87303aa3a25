"""What clients ask before they know an address (wire.md 6.3)."""

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.database import connect
from app.datasets.access import authorize
from app.datasets.errors import DatasetIdNotFound, DatasetNotFound
from app.datasets.model import Action
from app.datasets.service import find_dataset_by_id
from app.http import Node
from app.routing import readable, refusal
from odf_core.identity import DatasetId

router = APIRouter(tags=["node"])


class NodeInfo(BaseModel):
    """How datasets are addressed on this node."""

    is_multi_tenant: bool = Field(alias="isMultiTenant")


class Owner(BaseModel):
    """The account that a dataset belongs to."""

    account_name: str = Field(alias="accountName")
    account_id: str = Field(alias="accountId", description="DID of the account.")


class DatasetSummary(BaseModel):
    """Where a dataset is to be found."""

    id: str = Field(description="DID of the dataset.")
    owner: Owner
    dataset_name: str = Field(alias="datasetName")


@readable(router, "/info", summary="What kind of node this is", responses=REFUSALS)
async def read_info(node: Node, caller: CurrentCaller) -> NodeInfo:
    if caller.account is None and not node.settings.accounts.anonymous_read:
        caller.require_reader(anonymous_read=False)
    return NodeInfo(isMultiTenant=node.settings.tenancy == "multi")


_NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: refusal("No such dataset, or none that the caller may read")
}


@readable(
    router, "/datasets/{dataset_id}", summary="A dataset by its id", responses={**REFUSALS, **_NOT_FOUND}
)
async def read_dataset_by_id(
    node: Node,
    caller: CurrentCaller,
    dataset_id: Annotated[str, Path(max_length=1024, description="`did:odf:…` of the dataset.")],
) -> DatasetSummary:
    """The name and the owner of a dataset, if the caller may read it."""
    caller.require_reader(anonymous_read=node.settings.accounts.anonymous_read)
    wanted = DatasetId.parse(dataset_id)
    async with connect(node.engine) as conn:
        found = await find_dataset_by_id(conn, wanted)
    try:
        dataset = authorize(caller, found, Action.READ)
    except DatasetNotFound as error:
        raise DatasetIdNotFound("Not Found", objects=[wanted]) from error
    owner = Owner(accountName=dataset.owner_name, accountId=dataset.owner_did)
    return DatasetSummary(id=str(dataset.id), owner=owner, datasetName=dataset.name)
