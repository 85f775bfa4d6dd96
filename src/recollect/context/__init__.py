"""What is in the model's window now, and what was taken out of it."""
