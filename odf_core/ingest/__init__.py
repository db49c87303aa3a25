"""Ingest of root datasets: fetch, prepare, read, preprocess, merge, write (data.md 3)."""
