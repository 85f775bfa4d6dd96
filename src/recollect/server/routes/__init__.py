"""The routes, one module a resource: each translates one call of the facade."""
