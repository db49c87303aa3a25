"""What a query may not do, found by looking at it before it runs."""

from odf_core.engines.spark.gates.check import check_query

__all__ = ["check_query"]
