"""Answers to queries that can be checked: commitments and proofs (data.md 6)."""
