"""Writes that wait on this machine while the database server is away."""
