"""`GET …/tail` and `GET …/metadata` of a dataset."""

from enum import StrEnum
from typing import Annotated, Any

import anyio.to_thread
import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.database import connect
from app.datasets.addressing import Address
from app.datasets.model import Action
from app.datasets.service import HEAD, open_dataset
from app.errors import InvalidRequest
from app.http import Node
from app.query.run import require_records
from app.query.tail import read_projection, resolve_as_of, state_of, tail_of
from app.routing import readable, refusal
from odf_core.chain import Projection, parse_moment
from odf_core.data.records.encode import RecordsFormat, encode_records
from odf_core.data.records.tail import TailRange
from odf_core.ingest.words import shown
from odf_core.metadata import MetadataEvent, event_to_json

router = APIRouter(tags=["queries"])

MOST_RECORDS = 100_000
METADATA_PARTS = (
    "attachments",
    "info",
    "license",
    "refs",
    "schema",
    "seed",
    "sources",
    "transform",
    "vocab",
    "watermark",
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    404: refusal("No such dataset, or none that the caller may read"),
    413: refusal("More records than one answer may have"),
}


class TailFormat(StrEnum):
    """Forms of records in JSON."""

    JSON_AOS = "JsonAoS"
    JSON_SOA = "JsonSoA"
    JSON_AOA = "JsonAoA"


class Tail(BaseModel):
    """The last records of a dataset."""

    data: Any = Field(description="The records, ascending by offset, in the form of `dataFormat`.")
    data_format: TailFormat = Field(alias="dataFormat")


@readable(router, "/tail", summary="The last records of a dataset", response_model=Tail, responses=_REFUSALS)
async def read_tail(
    node: Node,
    caller: CurrentCaller,
    address: Address,
    skip: Annotated[int, Query(ge=0, le=2**62, description="Leave out so many of the newest.")] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_RECORDS, description="At most so many records.")] = 100,
    data_format: Annotated[
        TailFormat, Query(alias="dataFormat", description="Form of the records.")
    ] = TailFormat.JSON_AOS,
    as_of: Annotated[
        str | None,
        Query(
            alias="asOf",
            max_length=200,
            description="The dataset as of an offset, the hash of a block or a system time.",
        ),
    ] = None,
    state: Annotated[
        bool, Query(description="Only records that stand: no superseded and no retracted ones.")
    ] = False,
    at: Annotated[
        str | None,
        Query(max_length=100, description="The state at this event time: later records do not count."),
    ] = None,
) -> Response:
    """Records with their system columns; 64-bit integers are numbers, times are texts.

    With `state` or `at` those that stand, as the changelog tells.
    """
    require_records(node, limit)
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
    projection = await read_projection(node, dataset)
    until = None if as_of is None else await resolve_as_of(node, dataset, as_of)
    wanted = TailRange(limit=limit, skip=skip, as_of=until)
    if state or at is not None:
        moment = None if at is None else parse_moment(at)
        table = await state_of(node, dataset, projection, wanted, moment)
    else:
        table = await tail_of(node, dataset, projection.schema, wanted)

    def encode() -> bytes:
        data = encode_records(table, RecordsFormat(data_format.value))
        return orjson.dumps({"data": data, "dataFormat": data_format.value})

    return Response(await anyio.to_thread.run_sync(encode), media_type="application/json")


class MetadataAnswer(BaseModel):
    """The state of a dataset's metadata at its head."""

    output: dict[str, Any] = Field(
        description="The events that hold, by the name of the part, as manifests have them."
    )


@readable(router, "/metadata", summary="The state of a dataset's metadata", responses=_REFUSALS)
async def read_metadata(
    node: Node,
    caller: CurrentCaller,
    address: Address,
    include: Annotated[
        str | None,
        Query(
            max_length=400,
            description=f"Parts, comma-separated ({', '.join(METADATA_PARTS)}); default: all of them.",
        ),
    ] = None,
) -> MetadataAnswer:
    """What holds at the head: seed, schema, vocabulary, sources, and what people say about the dataset."""
    wanted = None if include is None else _wanted(include)
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
    at = await read_projection(node, dataset)
    parts = _parts(at)
    parts["refs"] = [{"name": HEAD, "blockHash": str(dataset.head)}]
    return MetadataAnswer(
        output={name: part for name, part in sorted(parts.items()) if wanted is None or name in wanted}
    )


def _wanted(include: str) -> set[str]:
    wanted = {part.strip().lower() for part in include.split(",") if part.strip()}
    unknown = sorted(wanted.difference(METADATA_PARTS))
    if unknown:
        raise InvalidRequest(
            f"The request cannot be read: query.include: {shown(unknown[0], 80)!r} is no part of the "
            f"metadata; the parts are {', '.join(METADATA_PARTS)}.",
            objects=["query.include"],
        )
    return wanted


def _parts(at: Projection) -> dict[str, Any]:
    events = {
        "attachments": at.attachments,
        "info": at.info,
        "license": at.license,
        "schema": at.schema,
        "seed": at.seed,
        "transform": at.transform,
    }
    parts: dict[str, Any] = {
        name: event_to_json(event)["content"] for name, event in events.items() if event is not None
    }
    sources: list[MetadataEvent] = list(at.push_sources.values())
    if at.polling_source is not None:
        sources.insert(0, at.polling_source)
    if sources:
        parts["sources"] = [event_to_json(source)["content"] for source in sources]
    vocabulary = at.vocabulary
    parts["vocab"] = {
        "offsetColumn": vocabulary.offset_column,
        "operationTypeColumn": vocabulary.operation_type_column,
        "systemTimeColumn": vocabulary.system_time_column,
        "eventTimeColumn": vocabulary.event_time_column,
    }
    if at.watermark is not None:
        parts["watermark"] = str(at.watermark)
    return parts
