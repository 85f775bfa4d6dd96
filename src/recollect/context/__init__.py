"""The model's window: what is in it now, and what was taken out of it."""
