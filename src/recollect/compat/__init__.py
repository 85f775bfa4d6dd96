"""Recollect behind the calls of other memories, for a program that is moved over."""
