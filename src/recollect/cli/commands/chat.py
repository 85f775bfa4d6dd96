"""`recollect chat`: talk with the configured model, and see what memory does meanwhile."""

from __future__ import annotations

import contextlib
import importlib
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, say
from recollect.cli.commands.model_setup import spent
from recollect.cli.options import Shared, option
from recollect.domain.views import as_json
from recollect.errors import ModelError
from recollect.memory import Memory
from recollect.ports.runtime import IN_TIME

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.assemble.language import ChatModel
    from recollect.context.session import Session
    from recollect.domain.hit import Hit
    from recollect.domain.message import Message
    from recollect.domain.model_tier import Reply
    from recollect.domain.record import Record, Version
    from recollect.domain.write import Written

_PROMPT: Final = "you> "
_HELP: Final = "/sent shows the last prompt, /quit ends."
_MAX_TERMS: Final = 6
_MAX_CHARS: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noted:
    """A record that a message led to, and why."""

    status: str
    record: Record
    reason: str


@dataclass(slots=True)
class _Exchange:
    """One message, and what came of it."""

    said: str
    sent: Sequence[Message] = ()
    recalled: Sequence[Hit] = ()
    profile: str = ""
    # What the prompt had to do without, and why.
    degraded: Sequence[str] = ()
    reply: Reply | None = None
    problem: ModelError | None = None
    written: Sequence[_Noted] = field(default_factory=tuple)

    @property
    def value(self) -> dict[str, Any]:
        return {
            "said": self.said,
            "sent": [{"role": it.role, "content": it.text} for it in self.sent],
            "profile": self.profile,
            "degraded": [*self.degraded],
            "recalled": [as_json(hit) for hit in self.recalled],
            "reply": None if self.reply is None else as_json(self.reply),
            "error": None if self.problem is None else as_json(self.problem),
            "written": [as_json(it) for it in self.written],
        }


async def chat(
    memory: Memory,
    shared: Shared,
    session: Annotated[
        str | None, option("The conversation; default: a new one.", metavar="ID")
    ] = None,
    model: Annotated[
        str | None, option("provider:model; default: from the settings.", metavar="NAME")
    ] = None,
    max_tokens: Annotated[
        int, option("Maximum length of an answer.", min=1, metavar="NUMBER")
    ] = 1_024,
) -> None:
    """Talk with your model and see what is recalled, what is written, and why.

    The model is that of `recollect init`. Without one it shows what would be sent. /sent shows the
    last prompt, /quit ends. Messages can also come in on standard input, one a line.
    """
    from recollect.assemble.language import chat_model, chat_model_name, checked_model_name

    name = chat_model_name(memory.settings) if model is None else checked_model_name(model)
    async with contextlib.AsyncExitStack() as stack:
        asked = await stack.enter_async_context(chat_model(memory.settings, name)) if name else None
        talk = await stack.enter_async_context(memory.session(session))
        _say_to_person(_begun(name, talk.id), shared)
        last: _Exchange | None = None
        while (text := _next_line()) is not None:
            if text in {"/quit", "/exit"}:
                break
            if text == "/sent":
                sent = () if last is None else last.sent
                _say_to_person([_as_line(it) for it in sent] or ["Nothing was sent yet."], shared)
            elif text.startswith("/"):
                _say_to_person([_HELP], shared)
            elif text:
                last = await _exchanged(memory, talk, asked, text, max_tokens)
                _tell(last, shared, has_model=asked is not None)


def _begun(name: str, session: str) -> list[str]:
    if name:
        return [f"Talking with {name}, session {session}. {_HELP}"]
    return [
        "There is no language model yet: `recollect init` chooses one.",
        f"Until then this shows what would be sent, session {session}. {_HELP}",
    ]


def _next_line() -> str | None:
    """Return the next message, or None at the end."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip() if line else None
    # While a person thinks, Ctrl-C ends the chat; asyncio would only note it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with contextlib.suppress(ImportError):
            # Lines can be edited and repeated.
            importlib.import_module("readline")
        return input(_PROMPT).strip()
    except (EOFError, KeyboardInterrupt):
        return None
    finally:
        signal.signal(signal.SIGINT, before)


async def _exchanged(
    memory: Memory, talk: Session, model: ChatModel | None, text: str, max_tokens: int
) -> _Exchange:
    """Send one message the way an agent does: recall, observe, prepare, ask, observe, extract."""
    exchange = _Exchange(text)
    mark = (await memory.changes()).mark
    found = await memory.recall(text)
    await talk.observe({"role": "user", "content": text})
    # This conversation has no tools, so nothing explains them.
    exchange.sent = await talk.prepare(text, format="neutral", with_guide=False)
    entered = talk.remembered
    exchange.profile = entered.profile
    exchange.degraded = talk.usage.degraded
    exchange.recalled = [hit for hit in found if hit.id in entered.ids]
    if model is not None:
        try:
            exchange.reply = await model.reply(
                exchange.sent,
                max_tokens=max_tokens,
                seconds=memory.settings.models.seconds.reasoning,
            )
            await talk.observe({"role": "assistant", "content": exchange.reply.text})
        except ModelError as problem:
            exchange.problem = problem
    read = await memory.extract(talk.id)
    # What is asked to be remembered is read at once, in the background.
    await memory.drain()
    exchange.written = await _noted(memory, mark, read)
    return exchange


async def _noted(memory: Memory, mark: str, read: Sequence[Written]) -> list[_Noted]:
    """Return the records that changed since the mark, with what the pipeline says of them."""
    told = {it.record.id: it for it in read if it.record is not None}
    changed = await memory.changes(mark)
    puts = [
        it.id
        for change in changed.items
        for it in change.changes
        if it.entity == "record" and it.op == "put"
    ]
    noted: list[_Noted] = []
    for record_id in dict.fromkeys(puts):
        *_, version = await memory.history(record_id)
        found = told.get(record_id)
        status = found.status if found else "created" if version.number == 1 else "changed"
        reasons = [version.reason, found.reason if found else "", await _quote(memory, version)]
        noted.append(
            _Noted(status=status, record=version.record, reason="; ".join(filter(None, reasons)))
        )
    return noted


async def _quote(memory: Memory, version: Version) -> str:
    """Return the words that a record rests on."""
    for it in version.record.evidence:
        said = (await memory.turn(it.turn)).content
        return f"said: {_shortened(said[it.start : it.end])}"
    return ""


# --- What is shown of it --------------------------------------------------------------------------


def _tell(exchange: _Exchange, shared: Shared, *, has_model: bool) -> None:
    if shared.json:
        print(json.dumps(exchange.value, ensure_ascii=False), flush=True)
        return

    def tell(console: Console) -> None:
        for line in _lines(exchange, has_model=has_model):
            show.line(console, line)

    say(Answer(None, tell), as_object=False)


def _lines(exchange: _Exchange, *, has_model: bool) -> list[str]:
    known = [it.strip() for it in exchange.profile.splitlines()]
    lines = [f"  profile   {it}" for it in known if it.startswith("- ")]
    lines += [
        f"  recalled  {hit.score:.2f} {hit.id}  {_shortened(hit.content)}  ({_why(hit)})"
        for hit in exchange.recalled
    ] or ["  recalled  nothing"]
    lines += [f"  missing   {it}" for it in exchange.degraded if it.endswith(IN_TIME)]
    if not has_model:
        lines += ["  would be sent:", *(f"    {_as_line(it)}" for it in exchange.sent)]
    if exchange.reply is not None:
        lines += [exchange.reply.text.strip(), f"  ({spent(exchange.reply)})"]
    if exchange.problem is not None:
        lines += [f"  error     {exchange.problem}", f"  hint      {exchange.problem.hint}"]
    for it in exchange.written:
        because = f"  ({it.reason})" if it.reason else ""
        content = _shortened(it.record.content)
        lines.append(f"  written   {it.status} {it.record.id}  {content}{because}")
    return lines


def _why(hit: Hit) -> str:
    paths = [f"{it.path} {it.score:.2f}" for it in hit.explanation.paths]
    terms = " ".join(hit.explanation.matched_terms[:_MAX_TERMS])
    return ", ".join([*paths, *([f"words: {terms}"] if terms else [])])


def _as_line(message: Message) -> str:
    return f"{message.role}: {message.text}"


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_CHARS else f"{words[: _MAX_CHARS - 1]}…"


def _say_to_person(lines: Sequence[str], shared: Shared) -> None:
    """Tell on stderr what is about the chat itself; stdout has the conversation."""
    if not shared.json:
        for line in lines:
            typer.echo(line, err=True)
