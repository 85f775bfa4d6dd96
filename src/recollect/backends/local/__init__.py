"""Indexes packed in this process, which follow what is written to the database."""
