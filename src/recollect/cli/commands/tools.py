"""`recollect tools`: list the memory tools of an agent and call them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import argument, option, text_of
from recollect.errors import InvalidInput
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.tools import Toolbox

Language = Annotated[Literal["zh", "en"], option("Language of titles and descriptions.")]


def guide(memory: Memory, language: Language = "en") -> Answer:
    """Print instructions on using memory for a system prompt; empty if memory is disabled."""
    text = memory.guide(language)
    return show.said({"text": text}, text)


def list_tools(
    memory: Memory,
    language: Language = "en",
    format: Annotated[
        Literal["openai", "anthropic", "json"] | None,
        option("Print the schemas in the format of a framework."),
    ] = None,
) -> Answer:
    """List the tools; none if memory is disabled for the agent."""
    box = memory.tools(language)
    if format is not None:
        return Answer.of(_schemas(box, format), _print)
    listed = box.json_schemas()

    def tell(console: Console) -> None:
        table = show.plain_table("name", "title", "description")
        for it in listed:
            table.add_row(it["name"], it["title"], it["description"])
        console.print(table)
        if not listed:
            show.line(console, "Memory is disabled for this agent.")

    return Answer(listed, tell)


async def call(
    memory: Memory,
    name: Annotated[str, argument("The tool.")],
    arguments: Annotated[
        str,
        argument(
            'Its arguments as JSON, {"query": "tea"}; - reads them from standard input.',
            callback=text_of,
        ),
    ] = "{}",
    language: Language = "en",
    session: Annotated[
        str | None, option("The session in which it is called.", metavar="ID")
    ] = None,
) -> Answer:
    """Call a tool as a model would."""
    box = memory.tools(language, session=session)
    if session is None and any(spec.name == name and spec.needs_session for spec in box.specs):
        raise InvalidInput(
            f"{name} belongs to a session", code="no_session", hint="Name it with --session ID."
        )
    result = await box.run(name, arguments)
    if isinstance(result, str):
        return show.said({"text": result}, result)
    return Answer.of(result, _print)


def _schemas(box: Toolbox, format: Literal["openai", "anthropic", "json"]) -> list[dict[str, Any]]:
    if format == "openai":
        return box.openai()
    return box.anthropic() if format == "anthropic" else box.json_schemas()


def _print(console: Console, value: object) -> None:
    show.line(console, json.dumps(value, ensure_ascii=False, indent=2))
