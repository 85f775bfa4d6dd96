"""Times as people write them, and the intervals they stand for."""
