"""What somebody who does not catch an error reads in the traceback, and what it says."""

import traceback

import pytest

from recollect import Memory
from recollect.errors import InvalidInput


async def test_a_traceback_tells_what_to_do(memory: Memory):
    with pytest.raises(InvalidInput) as caught:
        await memory.list(cursor="junk")
    shown = "".join(traceback.format_exception(caught.value))
    assert "'junk' is not a cursor (bad_cursor)\nhint: Use the last page's next_cursor." in shown


async def test_a_user_that_is_a_number_is_not_called_empty(memory: Memory):
    number: object = 5
    with pytest.raises(InvalidInput, match="The scope's user must be text, not int"):
        memory.scope(user=number)  # pyright: ignore[reportArgumentType]


async def test_an_unknown_field_is_answered_with_the_known_ones(memory: Memory):
    with pytest.raises(InvalidInput) as caught:
        await memory.remember("green tea", tag="drinks")  # pyright: ignore[reportCallIssue]
    assert "tags, " in caught.value.hint


async def test_a_question_that_is_too_long_is_not_told_to_be_saved(memory: Memory):
    with pytest.raises(InvalidInput) as caught:
        await memory.recall("word " * 10_000)
    assert "save" not in caught.value.hint
