"""Engines of other releases, each a Python environment of its own (docs/adr/0015)."""
