"""New records of root datasets: preprocessing, merge strategies, order (data.md 3.3 to 3.6)."""
