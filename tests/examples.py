"""How many examples a property is tried with."""

from hypothesis import settings


def examples(searching: int) -> int:
    """Return this many where new examples are searched for, half where they are the same each time.

    `make soak` searches; `make test` repeats.
    """
    return searching // 2 if settings.default.derandomize else searching
