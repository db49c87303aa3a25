"""Fixtures of the node without pushes: datasets come in by files in the bucket and a reindex."""

from tests.fixtures_node import node, node_settings, shared_node

__all__ = ["node", "node_settings", "shared_node"]
