"""The knowledge base: documents are read, split, indexed and found again, with citations."""
