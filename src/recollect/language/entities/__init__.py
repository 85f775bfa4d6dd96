"""The names that a text mentions."""
