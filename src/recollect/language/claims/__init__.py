"""What a statement says and how: its mood, subject and topic."""
