"""What a person's workspace keeps about a dataset beside its history (metadata.md 4, `info/config`)."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from odf_core.identity import DatasetAliasRemote, DatasetIdRemote, DatasetUrl, parse_dataset_ref_remote
from odf_core.metadata.declare import TextForm

DatasetRefRemote: TypeAlias = Annotated[
    DatasetIdRemote | DatasetAliasRemote | DatasetUrl,
    TextForm(
        "DatasetRefRemote", parse_dataset_ref_remote, "A dataset in a repository: [repo/]id, alias or URL"
    ),
]
"""A dataset elsewhere; stored as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetConfig:
    """From where a dataset is pulled and to where it is pushed."""

    pull_aliases: tuple[DatasetRefRemote, ...] = ()
    push_aliases: tuple[DatasetRefRemote, ...] = ()
