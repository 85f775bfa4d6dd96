"""Packed in-process indexes, which follow the changes of the database."""
