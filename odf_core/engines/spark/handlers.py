"""Kinds of calls and the functions that answer them.

A handler gets a session of its own (views and settings of one call are not seen by another), the request
(a JSON object), a function that tells the caller how far it is, and a folder of its own that is removed
afterwards. It gives a JSON object, or raises an OdfError, which the caller gets.
"""

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest

Progress: TypeAlias = Callable[[str], None]
Handler: TypeAlias = Callable[[SparkSession, dict[str, Any], Progress, Path], dict[str, Any]]

_handlers: dict[str, Handler] = {}
_BUILT_IN = (
    "odf_core.engines.spark.built_in",
    "odf_core.engines.spark.raw_query",
    "odf_core.engines.spark.slices.merge_handler",
    "odf_core.engines.spark.queries.tables",
    "odf_core.engines.spark.queries.run",
    "odf_core.engines.spark.transforms.handler",
)


def register(kind: str, handler: Handler) -> None:
    """Makes a function answer calls of a kind; one function per kind."""
    known = _handlers.setdefault(kind, handler)
    if known is not handler:
        raise ValueError(f"Calls of kind {kind!r} have a handler already.")


def load(modules: Iterable[str] = ()) -> None:
    """Imports the modules that register handlers: the built-in ones and those that options name."""
    for name in (*_BUILT_IN, *modules):
        importlib.import_module(name)


def handler_of(kind: object) -> Handler:
    """The handler of a kind; raises `InvalidEngineRequest`."""
    handler = _handlers.get(kind) if isinstance(kind, str) else None
    if handler is None:
        raise InvalidEngineRequest(
            f"The engine knows no calls of kind {str(kind)[:80]!r}, only {', '.join(sorted(_handlers))}.",
            extras={"kinds": sorted(_handlers)},
        )
    return handler
