"""The audit log: its rows, its chain, what a caller may read of it, and the replay of prompts."""
