"""Frozen values that everything else is made of."""
