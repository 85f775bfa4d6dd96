"""How something is found again."""
