"""Archives of large tool results, outside the window and readable on request."""
