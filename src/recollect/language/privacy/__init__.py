"""Personal data and secrets in text."""
