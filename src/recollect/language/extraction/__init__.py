"""Rules that find what is worth remembering in a conversation, and check it against its words."""
