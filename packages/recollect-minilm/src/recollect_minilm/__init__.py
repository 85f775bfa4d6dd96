"""Data of recollect's local embedder; recollect reads the folders beside this file."""
