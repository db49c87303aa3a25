"""What routes of every domain need of a request: the node, the request's id, the address it came by."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from app.context import NodeContext

PUBLISHED_SUBPROTOCOL = "odf/smart-transfer-protocol/v1"


def node_context(connection: HTTPConnection) -> NodeContext:
    """The node that serves this request or WebSocket."""
    node: NodeContext = connection.app.state.node
    return node


async def _node(connection: HTTPConnection) -> NodeContext:
    return node_context(connection)  # FastAPI sends a plain function to a thread


Node = Annotated[NodeContext, Depends(_node)]


def request_id(connection: HTTPConnection) -> str:
    """The id under which the log speaks of this request (`app.ops.requests` gives it)."""
    return str(connection.scope.get("odf.request_id", "-"))


def wants_json(connection: HTTPConnection) -> bool:
    """Whether errors go out as the JSON body always.

    The deployed dialect has plain and empty bodies in places (wire.md 1.2), and its client says
    nothing by which it could be known. So JSON goes to who asks for it: by `Accept`, or by offering
    the subprotocol of the published dialect.
    """
    accept = connection.headers.get("accept", "")
    offered = connection.headers.get("sec-websocket-protocol", "")
    return "json" in accept or PUBLISHED_SUBPROTOCOL in offered


def origin(connection: HTTPConnection) -> str:
    """`scheme://host[:port]` under which the client reaches the node, without a final slash."""
    node = node_context(connection)
    if node.settings.http.public_url is not None:
        return node.settings.http.public_url
    url = connection.base_url
    scheme = {"ws": "http", "wss": "https"}.get(url.scheme, url.scheme)
    return f"{scheme}://{url.netloc}"
