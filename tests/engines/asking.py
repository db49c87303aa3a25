"""A coordinator, as far as an engine can tell."""

from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import BytesValue

from odf_core.engines.messages import RawQueryRequest, RawQueryResponseRoot, decode_message, encode_message


def answers(channel: grpc.Channel, method: str, content: bytes) -> list[bytes]:
    """All messages of the answer."""
    call = channel.unary_stream(
        f"/engine.Engine/{method}",
        request_serializer=lambda content: BytesValue(value=content).SerializeToString(),
        response_deserializer=lambda content: BytesValue.FromString(content).value,
    )
    return list(call(content, timeout=120))


def ask_raw_query(channel: grpc.Channel, request: RawQueryRequest) -> list[Any]:
    """All words of the answer."""
    contents = answers(channel, "ExecuteRawQuery", encode_message(request))
    return [decode_message(RawQueryResponseRoot, content).value for content in contents]
