"""One dialect as an AsyncAPI 3 document: every message from its model, every code of an error."""

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from odf_core.transfer.asyncapi.samples import samples
from odf_core.transfer.asyncapi.texts import DESCRIPTIONS, FAMILY_SENTENCES
from odf_core.transfer.codes import PEER_CODES
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.dialects.deployed.error_messages import ErrorResponse
from odf_core.transfer.dialects.published.structures import DatasetError
from odf_core.transfer.messages import Message, Party

Document = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
_REFERENCE = re.compile(_SCHEMAS + r"([A-Za-z]+)")
# Docstrings name the page that they follow; readers of the document do not have it.
_NOTE = re.compile(r"\s*\([a-z-]+\.md[^)]*\)")
_MESSAGES = "#/components/messages/"
_FLOWS = ("pull", "push")
_ERRORS: dict[str, type[BaseModel]] = {"deployed": ErrorResponse, "published": DatasetError}


def document(dialect: Dialect) -> Document:
    """The AsyncAPI document of a dialect, as JSON-compatible values."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": f"Open Data Fabric Smart Transfer Protocol, {dialect.name} dialect",
            "version": "1",
            "description": DESCRIPTIONS[dialect.name],
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {flow: _channel(flow, dialect) for flow in _FLOWS},
        "operations": {name: operation for flow in _FLOWS for name, operation in _operations(flow, dialect)},
        "components": {"messages": _messages(dialect), "schemas": _schemas(dialect)},
    }


def to_yaml(dialect: Dialect) -> str:
    """The document as YAML text, the same for the same models."""
    head = (
        "# Made from the message models by `python -m odf_core.transfer.asyncapi "
        f"{dialect.name}`; do not edit.\n"
    )
    return head + yaml.dump(document(dialect), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _referenced(schemas: Document, names: list[str]) -> Document:
    """The named schemas and those that they refer to, in alphabetical order, without notes to ourselves."""
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            names += _REFERENCE.findall(json.dumps(schemas[name]))
    return {name: _without_notes(schemas[name]) for name in sorted(found)}


def _without_notes(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_notes(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_notes(item) for item in value]
    return _NOTE.sub("", value) if isinstance(value, str) else value


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _represent(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def _of_flow(flow: str, dialect: Dialect) -> list[Message[Any]]:
    return [message for message in dialect.codecs if message.name.startswith(flow)]


def _channel(flow: str, dialect: Dialect) -> Document:
    names = [message.name for message in _of_flow(flow, dialect)] + ["error"]
    headers: Document = {
        "x-odf-smtp-version": {"type": "string", "const": "1"},
        "authorization": {"type": "string", "description": "Bearer token; a push needs one."},
    }
    required = ["x-odf-smtp-version"]
    if dialect.subprotocol is not None:
        headers["sec-websocket-protocol"] = {"type": "string", "const": dialect.subprotocol}
        required.append("sec-websocket-protocol")
    return {
        "address": f"{{account}}/{{dataset}}/{flow}",
        "title": f"Dataset {flow}",
        "parameters": {
            "account": {"description": "Name of the account; absent on a node of a single tenant."},
            "dataset": {"description": "Name of the dataset."},
        },
        "messages": {name: {"$ref": _MESSAGES + name} for name in names},
        "bindings": {
            "ws": {
                "method": "GET",
                "headers": {"type": "object", "properties": headers, "required": required},
            }
        },
        "x-close-codes": {
            "1000": "The client ends a session that succeeded.",
            "1011": DESCRIPTIONS[f"{dialect.name} close"],
        },
    }


def _operations(flow: str, dialect: Dialect) -> list[tuple[str, Document]]:
    """Operations of the node: it receives what clients send, in the order of the flow."""
    channel = f"#/channels/{flow}"
    found: list[tuple[str, Document]] = []
    for message in _of_flow(flow, dialect):
        action = "receive" if message.sender is Party.CLIENT else "send"
        operation: Document = {
            "action": action,
            "channel": {"$ref": channel},
            "summary": message.summary,
            "messages": [{"$ref": f"{channel}/messages/{message.name}"}],
        }
        if message.sender is Party.SERVER:
            operation["messages"].append({"$ref": f"{channel}/messages/error"})
        found.append((message.name, operation))
    return found


def _messages(dialect: Dialect) -> Document:
    values = samples(dialect)
    made: Document = {
        message.name: {
            "name": message.name,
            "title": codec.schema.__name__,
            "summary": message.summary,
            "payload": {"$ref": _SCHEMAS + codec.schema.__name__},
            **_examples(dialect, message, values),
        }
        for message, codec in dialect.codecs.items()
    }
    error = _ERRORS[dialect.name]
    made["error"] = {
        "name": "error",
        "title": error.__name__,
        "summary": "May come in place of every answer; nothing was changed then.",
        "payload": {"$ref": _SCHEMAS + error.__name__},
    }
    return made


def _examples(dialect: Dialect, message: Message[Any], values: Mapping[Message[Any], Any]) -> Document:
    value = values.get(message)
    if value is None:
        return {}
    return {"examples": [{"payload": json.loads(dialect.encode(message, value).to_bytes())}]}


class _Generator(GenerateJsonSchema):
    """Schemas without the titles that only repeat the names of fields."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _schemas(dialect: Dialect) -> Document:
    models = {codec.schema for codec in dialect.codecs.values()} | {_ERRORS[dialect.name]}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, generated = models_json_schema(
        [(model, "validation") for model in ordered],
        ref_template=_SCHEMAS + "{model}",
        schema_generator=_Generator,
    )
    schemas = _referenced(generated["$defs"], [model.__name__ for model in ordered])
    schemas["ErrorCode"] = {
        "type": "string",
        "enum": sorted(PEER_CODES),
        "description": "What happened; codes are never renamed, further ones may be added.",
        "x-families": {
            family: {
                "description": sentence,
                "codes": sorted(code for code, its_family in PEER_CODES.items() if its_family == family),
            }
            for family, sentence in FAMILY_SENTENCES.items()
        },
    }
    if dialect.subprotocol is not None:
        schemas["ErrorDetails"]["properties"]["errorCode"]["anyOf"] = [
            {"$ref": _SCHEMAS + "ErrorCode"},
            {"type": "string"},
        ]
    return schemas
