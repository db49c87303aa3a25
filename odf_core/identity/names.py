"""Names of datasets, accounts and repositories (metadata.md 7).

    Subdomain = [A-Za-z0-9]+ ("-" [A-Za-z0-9]+)*      Hostname = Subdomain ("." Subdomain)*

All three kinds of name are a Hostname. A name keeps its spelling, but is compared and hashed without
regard to ASCII case.
"""

import re
from typing import ClassVar, Self

from odf_core.identity.errors import InvalidName, shown

MAX_NAME_CHARS = 253
"""Longest name that is read, that of a host name; the specification sets no bound."""

_HOSTNAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?:\.[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)*")


def is_hostname(text: str) -> bool:
    """Whether the text is a Hostname of the grammar, of a length that is read."""
    return len(text) <= MAX_NAME_CHARS and _HOSTNAME.fullmatch(text) is not None


class _Name(str):
    """A validated name; raises `InvalidName`."""

    __slots__ = ()
    what: ClassVar[str] = "name"

    def __new__(cls, text: str) -> Self:
        if not is_hostname(text):
            raise InvalidName(
                f"{shown(text)} is not a {cls.what}: letters, digits and single inner '-' and '.' "
                f"make one, {MAX_NAME_CHARS} characters at most."
            )
        return super().__new__(cls, text)

    @property
    def folded(self) -> str:
        """The name in lower case: the key for look-ups."""
        return self.lower()

    def __eq__(self, other: object) -> bool:
        """Equal to the same kind of name, or to plain text, in any ASCII case."""
        if isinstance(other, _Name) and type(other) is not type(self):
            return False
        return isinstance(other, str) and other.isascii() and self.lower() == other.lower()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.lower())


class DatasetName(_Name):
    """Name of a dataset within its account."""

    __slots__ = ()
    what = "dataset name"


class AccountName(_Name):
    """Name of an account on a node."""

    __slots__ = ()
    what = "account name"


class RepoName(_Name):
    """Name that a person's workspace gives a repository."""

    __slots__ = ()
    what = "repository name"
