"""The SQL database as the source of truth: one schema for every dialect."""
