"""Commands around a prompt: what goes into it and what of that helped."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.commands.records import RecordId
from recollect.cli.options import CommonFilterOptions, argument, option, text_of
from recollect.domain.context import ContextFields
from recollect.domain.preview import ContextPreview, TriedChange
from recollect.domain.record import Procedure, Record
from recollect.errors import InvalidInput
from recollect.memory import Memory


async def context(
    memory: Memory,
    message: Annotated[
        str, argument("The message; - reads it from standard input.", callback=text_of)
    ],
    where: CommonFilterOptions,
    limit: Annotated[
        int | None, option("Maximum number of items; default: from the settings.")
    ] = None,
    min_score: Annotated[
        float | None, option("Minimum score, 0 to 1; default: from the settings.")
    ] = None,
    max_tokens: Annotated[int | None, option("Maximum length; default: from the settings.")] = None,
    form: Annotated[
        Literal["structured", "flat"] | None,
        option("Form of the text; default: from the settings."),
    ] = None,
    language: Annotated[
        Literal["zh", "en"] | None,
        option("Language of the headings; default: that of the message."),
    ] = None,
    session: Annotated[str | None, option("The session of the prompt.", metavar="ID")] = None,
    explain: Annotated[
        bool, option("Print each part with its tokens, and what was left out.", "--explain")
    ] = False,
    trying: Annotated[
        list[str] | None, option("As if this were remembered; not stored.", "--try", metavar="TEXT")
    ] = None,
    without: Annotated[
        list[str] | None, option("As if this record were deleted; not stored.", metavar="ID")
    ] = None,
) -> Answer:
    """Print the profile and what is remembered for a message, as text for the prompt.

    Nothing is printed when there is neither. The recall_id, which `audit replay` takes, goes
    to stderr, so that stdout holds only the block. With --explain, --try or --without, nothing
    counts as used and there is no recall_id.
    """
    wanted: ContextFields = {
        "limit": limit,
        "min_score": min_score,
        "max_tokens": max_tokens,
        "form": form,
        "language": language,
        **where.common(),
    }
    if explain or trying or without:
        changes: list[TriedChange] = [
            *({"content": text} for text in trying or ()),
            *({"id": name, "delete": True} for name in without or ()),
        ]
        seen = await memory.preview(message, changes=changes, **wanted)
        return Answer(seen, lambda console: _tell_preview(console, seen, explain=explain))
    wanted["session"] = session
    made = await memory.context(message, **wanted)

    def tell(console: show.Console) -> None:
        if made.text:
            show.line(console, made.text)
            print(f"recall_id: {made.recall_id}", file=sys.stderr)

    return Answer(made, tell)


def _tell_preview(console: show.Console, seen: ContextPreview, *, explain: bool) -> None:
    if seen.context.text:
        show.line(console, seen.context.text)
    if not explain:
        return
    parts = show.plain_table("part", "tokens", "of")
    for part in seen.parts:
        budget = "-" if part.budget is None else f"{part.budget:,}"
        parts.add_row(part.name, f"{part.tokens:,}", budget)
    console.print(parts)
    items = show.plain_table("id", "part", "score", "tokens", "fate", "text")
    for it in seen.items:
        fate = it.fate.replace("_", " ") + (f": {it.reason}" if it.reason else "")
        score = "-" if it.score is None else f"{it.score:.2f}"
        items.add_row(it.id, it.part, score, str(it.tokens), fate, show.harmless(it.text))
    console.print(items)


async def profile(
    memory: Memory,
    action: Annotated[
        Literal["show", "hide", "edit"] | None,
        argument("Show a record in the profile, hide it from there, or edit it."),
    ] = None,
    record_id: Annotated[str | None, argument("The record's id.", metavar="ID")] = None,
    text: Annotated[str | None, argument("The new text, to edit.")] = None,
) -> Answer:
    """Print the profile of the user: the lines in every prompt, one per record.

    A line that is edited keeps the attribute that it states.
    """
    if action is not None:
        if record_id is None or (text is None) == (action == "edit"):
            raise InvalidInput(
                "Give the id of a record, and a text only to edit it",
                code="missing_field",
                hint="`recollect profile` shows the ids.",
            )
        if text is not None:
            before = await memory.get(record_id)
            changed = await memory.update(
                record_id, text, facet=before.facet or None, about=before.about
            )
            words = f"{changed.id} says now: {changed.content}"
            return show.said(changed, words)
        record = await memory.show_in_profile(record_id, shown=action == "show")
        done = "shown in" if action == "show" else "hidden from"
        words = f"{record.id} is {done} the profile: {record.content}"
        return show.said(record, words)
    return Answer.of(await memory.profile(), show.profile)


async def used(
    memory: Memory,
    record_id: RecordId,
    failed: Annotated[bool, option("The record was used and did not help.", "--failed")] = False,
) -> Answer:
    """Report that a record was used; one that helped ranks a little higher in later recalls."""
    return _told(await memory.used(record_id, success=not failed))


async def rejected(memory: Memory, record_id: RecordId) -> Answer:
    """Report that a record did not help; it ranks a little lower in later recalls."""
    return _told(await memory.rejected(record_id))


def _told(record: Record) -> Answer:
    words = f"{record.id}: helped {record.helped:,}×, no help {record.rejected:,}×"
    procedure = record.details
    if isinstance(procedure, Procedure) and procedure.success_rate is not None:
        words += f"; used {procedure.usage_count:,}×, {procedure.success_rate:.0%} with success"
    return show.said(record, words)
