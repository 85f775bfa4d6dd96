"""Retention: expiry, sweeps, the short-term buffer and the quarantine."""
