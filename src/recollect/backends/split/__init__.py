"""The ports over several stores: each scope is read and written in the store that holds it."""
