"""Name patterns of the command line: `%` stands for any run of characters (metadata.md 7).

Between two `%` stands a Hostname, with a `-` or `.` before and after it if need be, or one of these
alone; the pattern neither starts nor ends with `-` or `.`.
"""

import re
from dataclasses import dataclass

from odf_core.identity.did import DatasetId
from odf_core.identity.errors import InvalidName, shown
from odf_core.identity.names import MAX_NAME_CHARS, AccountName, is_hostname
from odf_core.identity.references import DatasetAlias

_WILDCARDS = re.compile("%+")
_SEPARATORS = ("-", ".")


@dataclass(frozen=True, slots=True)
class DatasetNamePattern:
    """A dataset name, or one with `%` in it; `pieces` are the texts around the wildcards."""

    text: str
    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "DatasetNamePattern":
        """Raises `InvalidName`."""
        pieces = tuple(_WILDCARDS.split(text)) if len(text) <= MAX_NAME_CHARS else ("",)
        if not _is_pattern(pieces):
            raise InvalidName(
                f"{shown(text)} is not a name pattern: a dataset name, or parts of one around '%', is needed."
            )
        return cls(text, pieces)

    def matches(self, name: str) -> bool:
        """Whether the name has this pattern, in any ASCII case."""
        name = name.lower()
        first, *middle = (piece.lower() for piece in self.pieces)
        if not middle:
            return name == first
        last = middle.pop()
        if not name.startswith(first) or not name.endswith(last) or len(name) < len(first) + len(last):
            return False
        position, end = len(first), len(name) - len(last)
        for piece in middle:  # the leftmost place is always a good one
            position = name.find(piece, position, end)
            if position < 0:
                return False
            position += len(piece)
        return True

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class DatasetAliasPattern:
    """`account/pattern` or `pattern`; without an account it matches datasets of every account."""

    account: AccountName | None
    name: DatasetNamePattern

    @classmethod
    def parse(cls, text: str) -> "DatasetAliasPattern":
        """Raises `InvalidName`."""
        account, slash, name = text.rpartition("/")
        return cls(AccountName(account) if slash else None, DatasetNamePattern.parse(name))

    def matches(self, alias: DatasetAlias) -> bool:
        """Whether the alias has the pattern's name and, if it gives one, its account."""
        return (self.account is None or self.account == alias.account) and self.name.matches(alias.name)

    def __str__(self) -> str:
        return f"{self.account}/{self.name}" if self.account is not None else str(self.name)


def parse_dataset_ref_pattern(text: str) -> DatasetId | DatasetAliasPattern:
    """Reads an identifier or a pattern of aliases; raises `InvalidDid` or `InvalidName`."""
    return DatasetId.parse(text) if text.startswith("did:odf:") else DatasetAliasPattern.parse(text)


def _is_pattern(pieces: tuple[str, ...]) -> bool:
    first, *rest = pieces
    if not rest:
        return is_hostname(first)
    last = rest.pop()
    return (
        (not first or is_hostname(_without_last(first)))
        and (not last or is_hostname(_without_first(last)))
        and all(piece in _SEPARATORS or is_hostname(_without_first(_without_last(piece))) for piece in rest)
    )


def _without_first(piece: str) -> str:
    return piece[1:] if piece[:1] in _SEPARATORS else piece


def _without_last(piece: str) -> str:
    return piece[:-1] if piece[-1:] in _SEPARATORS else piece
