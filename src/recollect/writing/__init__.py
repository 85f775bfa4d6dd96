"""The write path: from what was said to stored records."""
