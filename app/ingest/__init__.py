"""Data into root datasets of the node: pushed over HTTP, or pulled from their polling sources."""
