"""The rooms of a memory, each bound to its caller: they hand on and decide nothing."""
