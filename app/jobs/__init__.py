"""Work that outlives a request: jobs in Postgres, done by worker processes."""
