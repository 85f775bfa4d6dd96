"""The write path: how something becomes a memory."""
