"""Reading data files: the one place where pyarrow meets bytes that somebody else wrote."""
