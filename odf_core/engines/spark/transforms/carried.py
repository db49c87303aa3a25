"""Columns of ours that go along with the rows of an input through the linear part of a query."""

OP = "__odf_op"
OFFSET = "__odf_offset"
CARRIED = (OP, OFFSET)
"""Operation type and offset of the row of the input that a row comes from."""
