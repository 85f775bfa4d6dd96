"""What happens to memories after they are written."""
