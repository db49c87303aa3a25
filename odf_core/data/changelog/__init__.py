"""Changelogs as tables in memory: what a dataset's records come to (data.md 3.6, 6)."""

from odf_core.data.changelog.errors import ChangelogColumnMissing
from odf_core.data.changelog.fold import fold

__all__ = ["fold", "ChangelogColumnMissing"]
