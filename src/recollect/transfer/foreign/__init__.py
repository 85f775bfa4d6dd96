"""Other memories, each read by a module of its own into the values of `found`."""
