"""Words of the command line that are words of the library too: here again, to parse without loading it."""

from enum import StrEnum


class Dialect(StrEnum):
    """`odf_core.transfer.client.DialectName`."""

    DEPLOYED = "deployed"
    PUBLISHED = "published"


class Visible(StrEnum):
    """`odf_core.transfer.Visibility`, in lower case."""

    PRIVATE = "private"
    PUBLIC = "public"
