"""Language models: a client for every provider, tiers, and a scripted model for tests."""
