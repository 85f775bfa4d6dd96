"""Stores that are derived from the database: they follow its changes in the background."""
