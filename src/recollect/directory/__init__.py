"""The directory of a workspace: its scopes, agents, users, sessions, labels and records."""
