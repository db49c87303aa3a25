"""The OpenAPI document: up to date, and what it promises holds."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import content_type_conformance, positive_data_acceptance

from app import openapi
from tests.app_base.publishing import city, publish
from tests.running_node import RunningNode


def test_the_document_is_up_to_date() -> None:
    assert openapi.main(["--check"]) == 0, "run: python -m app.openapi"


COMPUTED = {"/query"}
"""Answers that would have to be computed to tell their length."""


def test_reading_routes_have_head_and_names_of_their_own() -> None:
    import orjson

    document = orjson.loads(openapi.DOCUMENT.read_bytes())
    names = []
    for path, operations in document["paths"].items():
        names += [operation["operationId"] for operation in operations.values()]
        if "get" in operations and path not in COMPUTED:
            assert "head" in operations, path
        for operation in operations.values():
            declared = {item["name"] for item in operation.get("parameters", []) if item["in"] == "path"}
            assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}, path
    assert len(names) == len(set(names))


def test_what_is_promised_holds(shared_node: RunningNode) -> None:
    publish(shared_node, city(), "alice/city")
    schema = schemathesis.openapi.from_url(f"{shared_node.base_url}/openapi.json")

    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.path != "/query":  # it would start an engine; tests/app_query asks it
            check_operation(operation)


def check_operation(operation: Any) -> None:
    """A few made-up requests: no 5xx, and every answer as the document has it."""

    @settings(
        max_examples=4,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy())
    def check(case: schemathesis.Case[Any]) -> None:
        answer = case.call(timeout=20)
        # Made-up names exist as little as made-up hashes; an empty body has no type.
        excluded = [positive_data_acceptance, *([] if answer.content else [content_type_conformance])]
        case.validate_response(answer, excluded_checks=excluded)

    check()
