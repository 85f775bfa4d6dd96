"""Implementations of the ports: databases, indexes, object stores. Only `assemble` imports them."""
