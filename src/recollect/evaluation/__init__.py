"""Benchmarks: how well questions are answered, and how fast."""
