"""Remove memory for good and prove it."""
