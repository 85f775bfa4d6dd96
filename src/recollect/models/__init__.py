"""Embedders, rerankers, judges and language models. Only `assemble` imports them."""
