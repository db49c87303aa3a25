"""`GET …/lineage`: what a dataset is computed from, and what is computed from it."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.database import connect
from app.datasets.addressing import Address
from app.datasets.model import Action, DatasetInfo
from app.datasets.service import open_dataset
from app.http import Node
from app.routing import readable, refusal
from app.transform.lineage import Lineage, lineage_of
from odf_core.identity import DatasetId

router = APIRouter(tags=["derivative datasets"])

_REFUSALS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    404: refusal("No such dataset, or none that the caller may read"),
    413: refusal("More datasets depend on each other than one answer tells"),
}


class LineageDataset(BaseModel):
    """A dataset of the graph; of one that is not here, or not for the caller, only the id is known."""

    id: str = Field(description="DID of the dataset.")
    alias: str | None = Field(None, description="`account/name` on this node.")
    kind: str | None = Field(None, description="`Root` or `Derivative`.")
    head: str | None = None
    mirror_of: str | None = Field(
        None, alias="mirrorOf", description="Its source, `repository/account/name`, where it is a mirror."
    )
    is_here: bool = Field(alias="isHere", description="Whether the caller can read it on this node.")


class LineageEdge(BaseModel):
    """One dataset is computed from another."""

    input: str = Field(description="DID of the dataset that is read.")
    dataset: str = Field(description="DID of the dataset that is computed.")
    alias: str | None = Field(None, description="What its query calls the input.")


class LineageGraph(BaseModel):
    """All that a dataset depends on, and all that depends on it."""

    root: str
    datasets: list[LineageDataset]
    edges: list[LineageEdge]


@readable(
    router,
    "/lineage",
    summary="What a dataset is computed from, and what from it",
    responses=_REFUSALS,
    response_model_exclude_none=True,
)
async def read_lineage(node: Node, caller: CurrentCaller, address: Address) -> LineageGraph:
    """The graph up and down, as far as the caller may read it. Private datasets of others are not told of;
    where a dataset that the caller may read names one as its input, the id is there and nothing else.
    """
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
        return _graph(await lineage_of(conn, caller, dataset))


def _graph(found: Lineage) -> LineageGraph:
    return LineageGraph(
        root=str(found.root.id),
        datasets=[_dataset(key, item) for key, item in found.datasets.items()],
        edges=[
            LineageEdge(input=str(edge.read), dataset=str(edge.reader), alias=edge.alias)
            for edge in found.edges
        ],
    )


def _dataset(dataset_id: DatasetId, found: DatasetInfo | None) -> LineageDataset:
    if found is None:
        return LineageDataset(id=str(dataset_id), isHere=False)
    return LineageDataset(
        id=str(dataset_id),
        alias=str(found.alias),
        kind=found.kind,
        head=str(found.head),
        mirrorOf=found.mirror_of,
        isHere=True,
    )
