"""Language models: a client for every provider, tiers that count, a script for tests."""
