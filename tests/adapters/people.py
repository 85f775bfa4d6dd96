"""One story for every adapter: two people say different things, and neither hears of the other's.

A row of a test's table is a way in which a framework names its users. It is told as a function
that holds a conversation as one person and returns all that was sent to the model.
"""

from collections.abc import Awaitable, Callable

from recollect import Memory

Conversing = Callable[[str, str], Awaitable[str]]
"""Takes a person and what they say."""

_TOLD = "Remember that the word for my locker is {}"
_ASKED = "What is the word for my locker?"
_WORDS = {"ann": "zephyr", "bob": "quartz"}


async def users_of(memory: Memory) -> set[str | None]:
    """Return the users that anything is stored for."""
    return {it.name for it in (await memory.scope(user=None).workspace.users()).items}


async def check_nothing_is_shared(
    memory: Memory, converse: Conversing, *, named: bool = True
) -> set[str | None]:
    """Tell the story, and return the users that memory knows afterwards.

    Where people are `named`, each of them is recognised in a later conversation.
    """
    for person, word in _WORDS.items():
        await converse(person, _TOLD.format(word))
    await memory.drain()
    for person in _WORDS:
        sent = await converse(person, _ASKED)
        for somebody, word in _WORDS.items():
            assert (word in sent) == (named and somebody == person), (person, word, sent)
    await memory.drain()
    users = await users_of(memory)
    assert memory.caller_scope.user not in users
    assert not (await memory.turns()).items
    if named:
        assert users == set(_WORDS)
    else:
        assert all(str(it).startswith("anon_") for it in users), users
        assert len(users) >= len(_WORDS)
    return users
