"""Shared memory: proposed by one agent, approved by the coordinator of the workspace."""
