"""The HTTP face; needs the extra `server`."""
