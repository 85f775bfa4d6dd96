"""Implementations of the model ports: embedders of several kinds. Only `assemble` imports them."""
