"""Creation and replacement of the vectors of stored units."""
