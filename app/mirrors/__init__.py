"""Datasets of other nodes on this one: pulled from registered repositories, and kept as their sources are."""
