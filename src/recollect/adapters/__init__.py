"""Memory inside other frameworks. Each module needs its framework, an optional extra."""
