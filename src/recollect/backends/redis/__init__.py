"""Redis or Valkey beside the database: a mirror of what is in it, and caches for all servers."""
