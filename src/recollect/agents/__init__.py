"""Agents: the settings of each, and copying the memory of one to another store."""
