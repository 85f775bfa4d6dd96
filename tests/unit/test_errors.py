"""What somebody who does not catch an error reads in the traceback, and what it says."""

import traceback
from typing import Any

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


async def test_an_error_can_be_printed_whatever_it_quotes(memory: Memory):
    with pytest.raises(InvalidInput) as caught:
        await memory.list(cursor="\ud83d" + "x" * 100_000 + "the end")
    shown = str(caught.value)
    assert len(shown) < 2_100
    assert shown.encode().endswith(b"the end' is not a cursor (bad_cursor)")


async def test_text_that_cannot_be_looked_up_is_told(memory: Memory):
    broken = "\ud83d"
    for call in (
        memory.archives.get(broken),
        memory.archives.list(session=broken),
        memory.archives.list(tool=broken),
        memory.trace(broken),
        memory.extract(broken),
        memory.shared.propose("green tea", target=broken),
    ):
        with pytest.raises(InvalidInput, match="not valid Unicode"):
            await call


async def test_what_is_no_text_is_told_by_every_way_of_writing(memory: Memory):
    number: Any = 5
    record: Any = {"id": "mem_1"}
    for call in (
        memory.write(number),
        memory.route(number),
        memory.write("green tea", metadata=number),
        memory.update(record, "black tea"),
        memory.delete(record),
    ):
        with pytest.raises(InvalidInput) as caught:
            await call
        assert caught.value.code == "wrong_type"
    assert (await memory.stats()).store.records == 0
