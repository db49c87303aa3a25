"""Verification of the node's datasets by jobs, and the signed findings."""
