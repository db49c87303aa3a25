"""Manifests: metadata as YAML and JSON (metadata.md 5)."""
