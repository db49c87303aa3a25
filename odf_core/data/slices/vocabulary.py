"""What this package asks of a vocabulary: the names of a dataset's system columns."""

from dataclasses import dataclass
from typing import Protocol


class Vocabulary(Protocol):
    """Names of the system columns; `odf_core.chain.Vocabulary` is one."""

    @property
    def offset_column(self) -> str: ...

    @property
    def operation_type_column(self) -> str: ...

    @property
    def system_time_column(self) -> str: ...

    @property
    def event_time_column(self) -> str: ...


@dataclass(frozen=True, slots=True)
class DefaultVocabulary:
    """The names of the specification (metadata.md 5)."""

    offset_column: str = "offset"
    operation_type_column: str = "op"
    system_time_column: str = "system_time"
    event_time_column: str = "event_time"
