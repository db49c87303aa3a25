"""What a query remembers between steps, with its rows in the order of their values (spark.md 4)."""

from dataclasses import replace
from pathlib import Path

from odf_core.engines.spark.transforms.zset import in_order
from odf_core.engines.state_file import Memory, read_state, write_state

__all__ = ["Memory", "read_checkpoint", "write_checkpoint"]

read_checkpoint = read_state


def write_checkpoint(memory: Memory, path: Path) -> None:
    """Writes it; no file where there is nothing to remember."""
    write_state(replace(memory, rows={number: in_order(rows) for number, rows in memory.rows.items()}), path)
