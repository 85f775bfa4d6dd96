"""The routes, one module a resource: each translates one call of the facade."""

# Declares the JSON form of what the routes return, before any of them is described.
from recollect import wire as wire
