"""The OpenAPI document of the node, made from its routes.

`python -m app.openapi` writes openapi/openapi.json; `--check` fails where the file is out of date.
"""

import re
import sys
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.settings import Settings

DOCUMENT = Path(__file__).resolve().parents[1] / "openapi" / "openapi.json"
MANIFEST_NAME = "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*(\\.[A-Za-z0-9]+(-[A-Za-z0-9]+)*)*$"

_ADDRESS_PARTS = {
    "account": "Name of the account that owns the dataset; the case of letters does not count.",
    "dataset": "Name of the dataset; the case of letters does not count.",
}
_DESCRIPTION = (
    "Simple Transfer Protocol of the Open Data Fabric (RFC-007) and what clients ask around it. The Smart "
    "Transfer Protocol (`pull` and `push` over WebSocket) is described under asyncapi/.\n\n"
    "A private dataset looks absent to everybody who may not read it. Errors have the body `ErrorBody`; "
    "where deployed clients expect an empty or a plain body, it is sent to those who accept JSON."
)


def describe(app: FastAPI) -> None:
    """Let `app.openapi()` give the whole document: addresses of datasets and the token included."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=_DESCRIPTION,
        routes=app.routes,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    document.setdefault("components", {})["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "bearerFormat": "org.odf.access_token"}
    }
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _add_address(path, operation)
            _without_unused(operation)
            if not path.startswith("/health/"):
                operation["security"] = [{}, {"token": []}]
    _drop_schemas(document, "HTTPValidationError", "ValidationError")
    return document


def _add_address(path: str, operation: dict[str, Any]) -> None:
    """Parameters that stand in the path's prefix, which no endpoint names."""
    known = {item["name"] for item in operation.get("parameters", [])}
    missing = [name for name in re.findall(r"{(\w+)}", path) if name not in known and name in _ADDRESS_PARTS]
    added = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _ADDRESS_PARTS[name],
            "schema": {"type": "string", "pattern": MANIFEST_NAME, "maxLength": 253},
        }
        for name in missing
    ]
    if added:
        operation["parameters"] = added + operation.get("parameters", [])


def _without_unused(operation: dict[str, Any]) -> None:
    """FastAPI promises a 422 for every parameter; here what cannot be read is a 400."""
    operation.get("responses", {}).pop("422", None)


def _drop_schemas(document: dict[str, Any], *names: str) -> None:
    for name in names:
        document["components"].get("schemas", {}).pop(name, None)


def render() -> bytes:
    """The document of a multi-tenant node, as the file has it."""
    from app.main import create_app

    document = create_app(Settings.model_construct(**_defaults())).openapi()
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _defaults() -> dict[str, Any]:
    """Default settings, whatever the environment says."""
    return {
        name: field.get_default(call_default_factory=True) for name, field in Settings.model_fields.items()
    }


def main(arguments: list[str]) -> int:
    """Write the file, or compare it (`--check`); the exit status."""
    if arguments == ["--check"]:
        return 0 if DOCUMENT.is_file() and DOCUMENT.read_bytes() == render() else 1
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_bytes(render())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
