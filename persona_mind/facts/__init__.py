"""Facts: what is known for good (private, shared, of the project) and what is known for now (two days)."""
