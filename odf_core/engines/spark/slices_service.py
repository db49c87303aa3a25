"""The project's own service: one call is a JSON object, its answer a stream of JSON objects.

`/odf.engine.Slices/Run` gives `{"accepted": {…}}`, any number of `{"progress": text}` and at last one of
`{"done": {…}}` and `{"error": {…}}`. Messages are UTF-8 JSON, without a Protobuf message around it.
"""

import json
from collections.abc import Iterator
from typing import Any

import grpc

from odf_core.engines.contract import PROTOCOL, require_identity, require_protocol
from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.identity import spark_identity
from odf_core.engines.spark.calls import Calls
from odf_core.engines.spark.runner import Runner
from odf_core.engines.wire import RUN, SLICES_SERVICE, describe
from odf_core.errors import OdfError


class SlicesService:
    """Answers `Run`; a request's `kind` says which handler it is for."""

    def __init__(self, calls: Calls, runner: Runner, info: dict[str, Any]) -> None:
        self._calls = calls
        self._runner = runner
        self._info = info

    def handler(self) -> grpc.GenericRpcHandler:
        """What a gRPC server takes; bytes go through as they are."""
        run = grpc.unary_stream_rpc_method_handler(self._run)
        return grpc.method_handlers_generic_handler(SLICES_SERVICE, {RUN: run})

    def _run(self, content: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        for word in self._words(content, context):
            yield json.dumps(word).encode()

    def _words(self, content: bytes, context: grpc.ServicerContext) -> Iterator[dict[str, Any]]:
        try:
            request = _read(content)
            entered = self._calls.enter()
        except OdfError as error:
            yield {"error": describe(error)}
            return
        if not entered:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the engine ends")
        yield {"accepted": self._info}
        yield from self._runner.run(request.get("kind"), request, context.add_callback)


def _read(content: bytes) -> dict[str, Any]:
    try:
        request = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidEngineRequest(f"The request to the engine is not JSON: {error}.") from error
    if not isinstance(request, dict):
        raise InvalidEngineRequest("The request to the engine is not a JSON object.")
    require_protocol(request.pop("protocol", PROTOCOL))
    meant = request.pop("identity", None)
    if meant is not None:
        require_identity(meant, spark_identity())
    return request
