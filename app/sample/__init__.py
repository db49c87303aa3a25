"""A small dataset of real public data, for the first look at a node."""
