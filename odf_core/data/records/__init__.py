"""Records for people and programs: cells as JSON and CSV (data.md 6), and the last of a dataset."""
