"""A node with one worker beside it and the engine of the run, for all tests of a module."""

from tests.app_ingest.conftest import ingest_node
from tests.app_mirrors.conftest import second_node
from tests.cli.conftest import odf
from tests.real_data.conftest import home
from tests.spark_fixture import spark_engine

__all__ = ["home", "ingest_node", "odf", "second_node", "spark_engine"]
