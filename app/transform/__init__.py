"""Derivative datasets of the node: what they read, and the jobs that bring them up to date."""
