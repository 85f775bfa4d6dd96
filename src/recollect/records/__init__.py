"""Changes to stored records: versions, conflicts, use, and the feed of changes."""
