"""Archive large tool results outside the window and read them back."""
