"""The service of deployed coordinators, `engine.Engine`: FlatBuffers in a Protobuf field (data.md 4.3)."""

from collections.abc import Callable, Iterator
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import BytesValue

from odf_core.engines.errors import EngineBusy, InvalidEngineRequest
from odf_core.engines.messages import (
    Message,
    RawQueryRequest,
    RawQueryResponseInternalError,
    RawQueryResponseInvalidQuery,
    RawQueryResponseProgress,
    RawQueryResponseRoot,
    RawQueryResponseSuccess,
    TransformResponseInternalError,
    TransformResponseInvalidQuery,
    TransformResponseProgress,
    TransformResponseRoot,
    TransformResponseSuccess,
    decode_message,
    encode_message,
)
from odf_core.engines.spark.calls import Calls
from odf_core.engines.spark.raw_query import KIND, request_of
from odf_core.engines.spark.runner import Runner, Told
from odf_core.engines.transform_calls import EXECUTE
from odf_core.engines.wire import ENGINE_SERVICE, RAW_QUERY, TRANSFORM
from odf_core.metadata import OffsetInterval, Timestamp
from odf_core.transform.request import TransformRequest

_QUERY_FAULTS = frozenset(
    {
        "query_refused",
        "query_invalid",
        "invalid_query_result",
        "invalid_engine_request",
        "unsupported_column_type",
    }
)


def unframe(content: bytes) -> bytes:
    """The field of a message `{bytes flatbuffer = 1}`, which is what Protobuf calls a BytesValue."""
    value: bytes = BytesValue.FromString(content).value
    return value


def frame(flatbuffer: bytes) -> bytes:
    """A message `{bytes flatbuffer = 1}`."""
    content: bytes = BytesValue(value=flatbuffer).SerializeToString()
    return content


class EngineService:
    """Answers `ExecuteRawQuery` and `ExecuteTransform`."""

    def __init__(self, calls: Calls, runner: Runner) -> None:
        self._calls = calls
        self._runner = runner

    def handler(self) -> grpc.GenericRpcHandler:
        """What a gRPC server takes."""

        def method(answer: Callable[[bytes, grpc.ServicerContext], Iterator[bytes]]) -> grpc.RpcMethodHandler:
            return grpc.unary_stream_rpc_method_handler(
                answer, request_deserializer=unframe, response_serializer=frame
            )

        methods = {RAW_QUERY: method(self._raw_query), TRANSFORM: method(self._transform)}
        return grpc.method_handlers_generic_handler(ENGINE_SERVICE, methods)

    def _raw_query(self, content: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        message = decode_or_abort(RawQueryRequest, content, context)
        self._enter(context)
        for word in self._runner.run(KIND, request_of(message), context.add_callback):
            yield encode_message(RawQueryResponseRoot(value=_raw_query_word(word)))

    def _transform(self, content: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        decode_or_abort(TransformRequest, content, context)
        self._enter(context)
        request = {"request": content.hex()}
        for word in self._runner.run(EXECUTE, request, context.add_callback):
            yield encode_message(TransformResponseRoot(value=_transform_word(word)))

    def _enter(self, context: grpc.ServicerContext) -> None:
        try:
            entered = self._calls.enter()
        except EngineBusy as error:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, error.message)
        if not entered:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the engine ends")


def decode_or_abort(kind: type[Message], content: bytes, context: grpc.ServicerContext) -> Message:
    """The message, or the end of the call."""
    try:
        return decode_message(kind, content)
    except InvalidEngineRequest as error:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, error.message)
        raise


def _raw_query_word(word: Told) -> Any:
    """A word of the runner, in the words of the deployed contract."""
    match word:
        case {"progress": _}:
            return RawQueryResponseProgress()
        case {"done": {"num_records": count}}:
            return RawQueryResponseSuccess(num_records=count)
        case {"error": {"code": code, "message": told}} if code in _QUERY_FAULTS:
            return RawQueryResponseInvalidQuery(message=told)
        case {"error": {"message": told}}:
            return RawQueryResponseInternalError(message=told)
    return RawQueryResponseInternalError(message="The engine ended the call without a result.")


def _transform_word(word: Told) -> Any:
    """A word of the runner about a step, in the words of the deployed contract."""
    match word:
        case {"progress": _}:
            return TransformResponseProgress()
        case {"done": {"interval": interval, "watermark": watermark}}:
            return TransformResponseSuccess(
                new_offset_interval=None
                if interval is None
                else OffsetInterval(start=interval[0], end=interval[1]),
                new_watermark=None if watermark is None else Timestamp.parse(watermark),
            )
        case {"error": {"code": code, "message": told}} if code in _QUERY_FAULTS:
            return TransformResponseInvalidQuery(message=told)
        case {"error": {"message": told}}:
            return TransformResponseInternalError(message=told)
    return TransformResponseInternalError(message="The engine ended the call without a result.")
