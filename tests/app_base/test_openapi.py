"""The OpenAPI document: up to date, and what it promises holds."""

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from app import openapi
from tests.app_base.publishing import city, publish
from tests.running_node import RunningNode


def test_the_document_is_up_to_date() -> None:
    assert openapi.main(["--check"]) == 0, "run: python -m app.openapi"


def test_reading_routes_have_head_and_names_of_their_own() -> None:
    import orjson

    document = orjson.loads(openapi.DOCUMENT.read_bytes())
    names = []
    for path, operations in document["paths"].items():
        names += [operation["operationId"] for operation in operations.values()]
        if "get" in operations:
            assert "head" in operations, path
        for operation in operations.values():
            declared = {item["name"] for item in operation.get("parameters", []) if item["in"] == "path"}
            assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}, path
    assert len(names) == len(set(names))


def test_what_is_promised_holds(shared_node: RunningNode) -> None:
    publish(shared_node, city(), "alice/city")
    schema = schemathesis.openapi.from_url(f"{shared_node.base_url}/openapi.json")

    for operation in schema.get_all_operations():
        strategy = operation.ok().as_strategy()

        @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @schemathesis.given(case=strategy) if hasattr(schemathesis, "given") else _given(strategy)
        def check(case: schemathesis.Case) -> None:
            case.call_and_validate(excluded_checks=[positive_data_acceptance], timeout=20)

        check()


def _given(strategy):  # type: ignore[no-untyped-def]
    from hypothesis import given

    return given(case=strategy)
