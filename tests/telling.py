"""A user who tells things, and what is remembered of them."""

from recollect import Memory


async def tell(memory: Memory, *messages: str) -> None:
    """Say each of these, and let it be read at once."""
    for message in messages:
        await memory.observe({"role": "user", "content": message}, session="s")
        await memory.extract()


async def remembered(memory: Memory) -> list[str]:
    """What the records say."""
    return [record.content for record in await memory.list()]
