"""Derivative datasets: what a step reads, the engine port, and the blocks that follow (data.md 4)."""
