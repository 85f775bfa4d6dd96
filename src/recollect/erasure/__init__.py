"""Erasure: memory is removed for good, and its removal verified."""
