"""The node with a worker and the engine of the run."""

from tests.app_ingest.conftest import ingest_node, spark_engine

__all__ = ["ingest_node", "spark_engine"]
