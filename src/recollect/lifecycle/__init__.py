"""The lifecycle of records and other stored data after they are written."""
