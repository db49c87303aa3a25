"""SQL over datasets: which tables a query names, and its result."""
