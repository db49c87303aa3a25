"""One table from errors to statuses: complete, and about errors that exist."""

import importlib
import pkgutil
from collections.abc import Iterator

import orjson
import pytest
from starlette.requests import Request

import app
import odf_core
from app import errors
from app.http import PUBLISHED_SUBPROTOCOL
from odf_core.errors import OdfError


def all_errors() -> dict[str, type[OdfError]]:
    for package in (odf_core, app):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    return {leaf.code: leaf for leaf in _below(OdfError)}


def _below(kind: type[OdfError]) -> Iterator[type[OdfError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def request(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "GET", "path": "/", "headers": raw, "odf.request_id": "r1"})


def test_every_family_has_a_status() -> None:
    for code, leaf in all_errors().items():
        assert leaf.family in errors.STATUS_BY_FAMILY, code


def test_the_tables_name_errors_that_exist() -> None:
    assert set(errors.STATUS_BY_CODE) | set(errors.PLAIN_BY_CODE) <= set(all_errors())


@pytest.mark.parametrize("family", sorted(errors.STATUS_BY_FAMILY))
def test_the_body_of_every_family(family: str) -> None:
    kind = next(leaf for leaf in all_errors().values() if leaf.family == family and leaf.__base__ is OdfError)
    error = kind("What is wrong.", objects=["f1620"], extras={"secret": "inside"})
    answer = errors.error_response(request(), error)
    assert answer.status_code == errors.STATUS_BY_FAMILY[family]
    assert orjson.loads(answer.body) == {
        "message": "What is wrong.",
        "code": kind.code,
        "family": family,
        "objects": ["f1620"],
        "requestId": "r1",
    }
    assert ("retry-after" in answer.headers) is (answer.status_code == 503)


@pytest.mark.parametrize("code", sorted(errors.PLAIN_BY_CODE))
def test_plain_forms_go_to_deployed_clients_only(code: str) -> None:
    class Made(OdfError):
        family = "not_found"

    Made.code = code  # not all leaves take a message, and only the code matters here
    error = Made("Text.")
    body = errors.error_response(request(accept="*/*"), error).body
    expected = {
        errors.Plain.EMPTY: b"",
        errors.Plain.TEXT: b"Text.",
        errors.Plain.MESSAGE: b'{"message":"Text."}',
    }
    assert body == expected[errors.PLAIN_BY_CODE[code]]
    for asking in (request(accept="application/json"), request(sec_websocket_protocol=PUBLISHED_SUBPROTOCOL)):
        assert orjson.loads(errors.error_response(asking, error).body)["code"] == code


def test_401_names_the_scheme() -> None:
    from app.accounts.errors import Unauthenticated

    assert errors.error_response(request(), Unauthenticated("x")).headers["www-authenticate"] == "Bearer"
