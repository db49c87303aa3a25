"""Manifests to begin with: what `odf new` writes."""

from odf_core.identity import DatasetAlias
from odf_core.metadata import DatasetKind

_ROOT = """\
kind: DatasetSnapshot
version: 1
content:
  name: {name}
  kind: Root
  metadata:
  # Records are pushed in: `odf ingest {name} FILE`. To have them fetched instead, put this in its place:
  #
  # - kind: SetPollingSource
  #   fetch:
  #     kind: Url
  #     url: https://example.org/data.csv
  #   read: (as below)
  #   merge: (as below)
  #
  - kind: AddPushSource
    sourceName: default
    read:
      kind: NdJson # or Csv, Json, GeoJson, NdGeoJson, EsriShapefile, Parquet
      ddlSchema:
      - event_time TIMESTAMP
      - id BIGINT NOT NULL
      - value DOUBLE
    # How new records meet those that are known: Append keeps all, Ledger keeps the first of each key,
    # Snapshot takes a source's whole state and records the changes, ChangelogStream and UpsertStream
    # take changes.
    merge:
      kind: Ledger
      primaryKey:
      - id
  - kind: SetInfo
    description: What the records are, in a sentence
    keywords:
    - example
"""

_DERIVATIVE = """\
kind: DatasetSnapshot
version: 1
content:
  name: {name}
  kind: Derivative
  metadata:
  - kind: SetTransform
    inputs:
    # Name or id of a dataset of the workspace; queries call it by its alias.
    - datasetRef: name-of-an-input
      alias: input
    transform:
      kind: Sql
      engine: spark
      queries:
      - query: |
          SELECT
            event_time,
            id,
            value
          FROM input
  - kind: SetInfo
    description: What the records are, in a sentence
    keywords:
    - example
"""


def template(name: DatasetAlias, kind: DatasetKind) -> str:
    """The text of a manifest of a dataset of this kind; as it stands it can be read, and a root be added."""
    return (_ROOT if kind is DatasetKind.ROOT else _DERIVATIVE).format(name=name)
