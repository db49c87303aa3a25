"""Why a changelog cannot be folded."""

from typing import ClassVar

from odf_core.errors import InvalidInput


class ChangelogColumnMissing(InvalidInput):
    """Records lack a column that they are folded by."""

    code: ClassVar[str] = "changelog_column_missing"
