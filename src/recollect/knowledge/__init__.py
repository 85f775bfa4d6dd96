"""The knowledge base: documents are read, split, indexed and searched, with citations."""
