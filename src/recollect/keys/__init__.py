"""Keys and sign-ins to the server."""
