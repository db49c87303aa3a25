"""Data slices: Parquet files of records, held against the blocks that name them (data.md 2)."""
