"""The prepare phase: decompress and pipe, within bounds and a policy."""

from odf_core.ingest.prepare.options import PrepareContext, PrepareOptions
from odf_core.ingest.prepare.prepare import prepare

__all__ = ["prepare", "PrepareContext", "PrepareOptions"]
