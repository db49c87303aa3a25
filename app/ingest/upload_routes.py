"""Uploads of big files: `POST /platform/file/upload/prepare`, as the deployed node has it.

The client PUTs the file to the address in the answer and then asks for its ingest with
`POST …/ingest?uploadToken=…`, without a body.
"""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.http import Node, origin
from app.ingest.receiving import receive_upload
from app.ingest.upload_tokens import TOKEN_CHARS
from app.ingest.uploads import open_token, prepare_upload
from app.routing import refusal

router = APIRouter(tags=["ingest"])
_PATH = "/platform/file/upload"


class UploadContext(BaseModel):
    """How to upload a file."""

    upload_url: str = Field(alias="uploadUrl", description="Where the file goes, as it is.")
    method: Literal["PUT"] = "PUT"
    use_multipart: Literal[False] = Field(False, alias="useMultipart")
    headers: list[tuple[str, str]] = Field(
        description="Headers of the upload, beside Content-Length with exactly the declared bytes."
    )
    fields: list[tuple[str, str]] = Field([], description="Fields of a form; there are none.")
    upload_token: str = Field(
        alias="uploadToken", description="Names the file to `POST …/ingest`; good for one ingest."
    )
    expires_at: datetime = Field(alias="expiresAt", description="The upload has to begin before.")


@router.post(
    f"{_PATH}/prepare",
    summary="Prepare the upload of a file",
    responses={
        **REFUSALS,
        413: refusal("More bytes than the node takes"),
        415: refusal("Data of this media type cannot be read"),
    },
)
async def prepare(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    file_name: Annotated[
        str,
        Query(alias="fileName", min_length=1, max_length=255, description="Tells the format by its ending."),
    ],
    content_length: Annotated[int, Query(alias="contentLength", ge=0, description="Bytes of the file.")],
    content_type: Annotated[
        str | None,
        Query(alias="contentType", max_length=200, description="Media type, where the name does not tell."),
    ] = None,
) -> UploadContext:
    """A place for one file of the caller's; what is not ingested is removed after some time."""
    caller.require_valid_token()
    account = caller.require_account()
    made = await prepare_upload(node, account, file_name, content_length, content_type or None)
    headers = made.headers
    if made.url is None and (authorization := request.headers.get("authorization")):
        headers = (*headers, ("authorization", authorization))
    return UploadContext(
        uploadUrl=made.url or f"{origin(request)}{_PATH}/{made.token}",
        headers=list(headers),
        uploadToken=made.token,
        expiresAt=made.expires_at,
    )


@router.put(
    _PATH + "/{upload_token}",
    summary="Upload a prepared file through the node",
    response_class=Response,
    responses={
        200: {"description": "The file has arrived", "content": {}},
        **REFUSALS,
        403: refusal("The token of another account"),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    upload_token: Annotated[
        str, Path(max_length=TOKEN_CHARS, description="The token that the upload was prepared with.")
    ],
) -> Response:
    """Where the bucket cannot be reached by clients (`transfer.mode = proxied`)."""
    caller.require_valid_token()
    await receive_upload(node, request, await open_token(node, caller.require_account(), upload_token))
    return Response(status_code=200)
