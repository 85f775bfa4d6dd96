"""Make and replace the vectors of what is stored."""
