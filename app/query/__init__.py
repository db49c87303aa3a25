"""Questions about datasets: the last records, the state of the metadata, SQL with proofs."""
