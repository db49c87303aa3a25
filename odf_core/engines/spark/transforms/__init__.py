"""Transformations of derivative datasets by Spark: batch and stream agree (spark.md 2 and 3)."""
