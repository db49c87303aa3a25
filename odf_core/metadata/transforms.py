"""Transformations: queries and what they read (metadata.md 1)."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.identity import DatasetAlias, DatasetId, parse_dataset_ref
from odf_core.metadata.declare import TextForm, UnionOf

DatasetRef: TypeAlias = Annotated[
    DatasetId | DatasetAlias,
    TextForm(
        "DatasetRef", parse_dataset_ref, "Identifier (did:odf:…) or alias ([account/]name) of a dataset"
    ),
]
"""A dataset by identifier or alias; stored as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQueryStep:
    """One query; the result of a step with an alias can be read by later steps."""

    alias: str | None = None
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalTable:
    """An input that is read as a table versioned in time."""

    name: str
    primary_key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformSql:
    """SQL for one engine. In blocks `queries` is used; `query` is the short form of snapshots."""

    engine: str
    version: str | None = None
    query: str | None = None
    queries: tuple[SqlQueryStep, ...] | None = None
    temporal_tables: tuple[TemporalTable, ...] | None = None


Transform: TypeAlias = Annotated[TransformSql, UnionOf("Transform", prefix="Transform")]
"""How input records become output records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformInput:
    """A dataset that a transformation reads, and the name that the query has for it."""

    dataset_ref: DatasetRef
    alias: str | None = None
