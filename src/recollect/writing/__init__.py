"""How something comes to be remembered."""
