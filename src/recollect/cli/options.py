"""Options that several commands have, and what a person typed: texts, moments, pairs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import Field, dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, cast

import typer

from recollect.domain.fields import RecordFields
from recollect.domain.filters import CommonFilters, FilterFields
from recollect.domain.record import Kind, Status
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from recollect.settings import Settings


# --------------------------------------------------------------------------------------------------
# What a person typed: texts, also from standard input, moments in local time, key=value pairs.


def require_utf8(arguments: Sequence[str]) -> None:
    """Refuse arguments that were no UTF-8: Python hands them on with stand-ins for the bytes."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise _not_utf8(f"The argument {argument!a}") from None


def text_of(argument: str | None) -> str | None:
    """Return the argument itself, or for `-` what comes in on standard input.

    Called while arguments are read: nothing is open yet, and Ctrl-C ends the waiting.
    """
    if argument != "-":
        return argument
    try:
        # Some shells mark piped text with a byte order mark, all of them end it with a newline.
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _not_utf8("Standard input") from None
    return text.removesuffix("\n").removesuffix("\r")


def moment_of(text: str | None, name: str) -> datetime | None:
    """Return a date or a time in ISO form, if one was given; without a zone it is local."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone() if moment.tzinfo is None else moment
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} {text!r} is not a date or a time",
            code="bad_time",
            hint="Write it as 2026-05-31, 2026-05-31T18:30 or 2026-05-31T18:30:00+08:00.",
        ) from None


def one_of(first: str | None, second: str | None, *names: str) -> str | None:
    """Return what was given in either of two ways; both at once would leave one unheard."""
    if first is not None and second is not None:
        raise InvalidInput(
            f"{' and '.join(names)} are the same; give one of them", code="bad_usage"
        )
    return second if first is None else first


def pairs_of(items: Iterable[str], name: str) -> dict[str, str]:
    """`key=value` texts as a mapping."""
    pairs: dict[str, str] = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key:
            raise InvalidInput(f"{name} {item!r} is not key=value", code="bad_pair")
        pairs[key] = value
    return pairs


def _not_utf8(what: str) -> InvalidInput:
    return InvalidInput(
        f"{what} is not valid UTF-8; nothing was changed",
        code="invalid_utf8",
        hint="Convert the text first, for example with iconv.",
    )


# --- Options that several commands have, and what a person typed: texts, moments, pairs -----------


class OptionGroup:
    """A dataclass whose fields are options; a command takes all of them as one parameter."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


def option(text: str, *names: str, **more: Any) -> Any:
    """Return an option: what help says of it, and its names if they are not the parameter's."""
    return typer.Option(*names, help=text, **more)


def argument(text: str, **more: Any) -> Any:
    """Return an argument, with what help says of it."""
    return typer.Argument(help=text, **more)


def _option(panel: str, text: str, *names: str, metavar: str | None = None) -> Any:
    return option(text, *names, metavar=metavar, rich_help_panel=panel, show_default=False)


Limit = Annotated[int, option("Maximum number.")]
PageMark = Annotated[str | None, option("Continue after the previous page.", metavar="MARK")]

Most = Annotated[int | None, option("Maximum number; default: from the settings.")]
PerPage = Annotated[int, option("Number per page.")]
Question = Annotated[
    str, argument("The question; - reads it from standard input.", callback=text_of)
]

_EVERYWHERE: Final = "Common options"
_FILTERS: Final = "Filters"
_FIELDS: Final = "Fields"
_EPISODIC: Final = "Fields of an episodic record"
_PROCEDURAL: Final = "Fields of a procedural record"
_KINDS: Final = ", ".join(Kind)
_STATUSES: Final = ", ".join(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared(OptionGroup):
    """Where memory is, whose it is, and how to answer."""

    data: Annotated[
        str | None,
        _option(_EVERYWHERE, "Database file (….db), data folder or database URL.", metavar="PATH"),
    ] = None
    user: Annotated[str | None, _option(_EVERYWHERE, "User whose memory to use.", metavar="ID")] = (
        None
    )
    agent: Annotated[
        str | None, _option(_EVERYWHERE, "Agent whose memory to use.", metavar="ID")
    ] = None
    workspace: Annotated[str | None, _option(_EVERYWHERE, "Workspace to use.", metavar="ID")] = None
    org: Annotated[str | None, _option(_EVERYWHERE, "Organisation to use.", metavar="ID")] = None
    json: Annotated[
        bool, _option(_EVERYWHERE, "Print one JSON document instead of text.", "--json")
    ] = False

    def settings(self) -> Settings:
        """Return the settings these options lead to."""
        # Reading settings is not needed to show help.
        from recollect.settings import Settings

        self._require_values()
        found = Settings.load() if self.data is None else Settings.at(self.data)
        parts = {"org": self.org, "workspace": self.workspace}
        parts |= {"agent": self.agent, "user": self.user}
        given = {name: part for name, part in parts.items() if part is not None}
        return found.model_copy(update={"scope": found.scope.model_copy(update=given)})

    def _require_values(self) -> None:
        """Refuse `--data --json`, which a variable that is not set makes of `--data $DB --json`.

        The next option would become a folder's or a user's name.
        """
        for name in ("data", "user", "agent", "workspace", "org"):
            value = getattr(self, name)
            if value is not None and value.startswith("--"):
                raise InvalidInput(
                    f"--{name} needs a value, but {value} is an option; nothing was changed",
                    code="bad_usage",
                    hint=f"Give a value after --{name}, or leave it out.",
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonFilterOptions(OptionGroup):
    """Which records a question, a prompt or a listing is about."""

    kind: Annotated[
        list[Kind] | None,
        _option(_FILTERS, f"Only this kind ({_KINDS}; repeatable).", metavar="KIND"),
    ] = None
    category: Annotated[
        list[str] | None,
        _option(_FILTERS, "Only this category or an alias of it (repeatable).", metavar="NAME"),
    ] = None
    facet: Annotated[
        list[str] | None,
        _option(_FILTERS, "Only what states this, for example home (repeatable).", metavar="NAME"),
    ] = None
    tag: Annotated[
        list[str] | None,
        _option(_FILTERS, "Only with this tag (repeatable; all must match).", metavar="TAG"),
    ] = None
    status: Annotated[
        list[Status] | None,
        _option(_FILTERS, f"With this status ({_STATUSES}; repeatable).", metavar="STATUS"),
    ] = None
    since: Annotated[str | None, _option(_FILTERS, "Only from this time on.", metavar="TIME")] = (
        None
    )
    until: Annotated[
        str | None,
        _option(_FILTERS, "Only before this time; a date means its start.", metavar="TIME"),
    ] = None
    task: Annotated[str | None, _option(_FILTERS, "Only of this task.", metavar="ID")] = None
    as_of: Annotated[
        str | None, _option(_FILTERS, "As it was known at this time.", metavar="TIME")
    ] = None
    valid_at: Annotated[
        str | None, _option(_FILTERS, "Only what was true at this time.", metavar="TIME")
    ] = None

    def common(self) -> CommonFilters:
        return CommonFilters(
            kind=self.kind,
            category=self.category,
            facet=self.facet,
            tags=self.tag,
            status=self.status,
            since=moment_of(self.since, "--since"),
            until=moment_of(self.until, "--until"),
            task=self.task,
            as_of=moment_of(self.as_of, "--as-of"),
            valid_at=moment_of(self.valid_at, "--valid-at"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterOptions(CommonFilterOptions):
    """Which records a question or a listing is about, or which turns."""

    session: Annotated[str | None, _option(_FILTERS, "Only of this session.", metavar="ID")] = None

    def filters(self) -> FilterFields:
        return FilterFields(**self.common(), session=self.session)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions(OptionGroup):
    """What can be said about a record; an empty value takes a time, a label or a list away."""

    kind: Annotated[
        Kind | None,
        _option(_FIELDS, f"One of {_KINDS}; a new record is semantic by default.", metavar="KIND"),
    ] = None
    category: Annotated[
        str | None, _option(_FIELDS, "Category, for example project.", metavar="NAME")
    ] = None
    facet: Annotated[
        str | None, _option(_FIELDS, "What it states, for example home.", metavar="NAME")
    ] = None
    about: Annotated[
        str | None, _option(_FIELDS, "Whom it is about: user, other or thing.", metavar="WHOM")
    ] = None
    title: Annotated[
        str | None, _option(_FIELDS, "Title; the name of a procedure.", metavar="TEXT")
    ] = None
    description: Annotated[
        str | None, _option(_FIELDS, "One line on what it is for.", metavar="TEXT")
    ] = None
    tag: Annotated[list[str] | None, _option(_FIELDS, "Tag (repeatable).", metavar="TAG")] = None
    confidence: Annotated[
        float | None, _option(_FIELDS, "How certain it is, 0 to 1.", metavar="NUMBER")
    ] = None
    importance: Annotated[
        float | None, _option(_FIELDS, "How much it matters, 0 to 1.", metavar="NUMBER")
    ] = None
    source: Annotated[str | None, _option(_FIELDS, "Where it comes from.", metavar="TEXT")] = None
    at: Annotated[
        str | None,
        _option(_FIELDS, "When it was learned; of a new record by default now.", metavar="TIME"),
    ] = None
    valid_from: Annotated[
        str | None, _option(_FIELDS, "Start of its validity.", metavar="TIME")
    ] = None
    valid_to: Annotated[str | None, _option(_FIELDS, "End of its validity.", metavar="TIME")] = None
    expires: Annotated[str | None, _option(_FIELDS, "When it expires.", metavar="TIME")] = None
    session: Annotated[str | None, _option(_FIELDS, "Session it belongs to.", metavar="ID")] = None
    task: Annotated[str | None, _option(_FIELDS, "Task it belongs to.", metavar="ID")] = None
    meta: Annotated[
        list[str] | None, _option(_FIELDS, "Other metadata (repeatable).", metavar="KEY=VALUE")
    ] = None
    participant: Annotated[
        list[str] | None, _option(_EPISODIC, "Who took part (repeatable).", metavar="NAME")
    ] = None
    outcome: Annotated[str | None, _option(_EPISODIC, "Outcome.", metavar="TEXT")] = None
    artifact: Annotated[
        list[str] | None,
        _option(_EPISODIC, "File or link it produced (repeatable).", metavar="TEXT"),
    ] = None
    timestamp: Annotated[str | None, _option(_EPISODIC, "When it happened.", metavar="TIME")] = None
    trigger: Annotated[str | None, _option(_PROCEDURAL, "When to use it.", metavar="TEXT")] = None
    step: Annotated[
        list[str] | None, _option(_PROCEDURAL, "Next step (repeatable).", metavar="TEXT")
    ] = None
    success_rate: Annotated[
        float | None, _option(_PROCEDURAL, "How often it works, 0 to 1.", metavar="NUMBER")
    ] = None

    def given(self) -> RecordFields:
        """Only what was given, under the names of the library."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return cast(
            "RecordFields",
            {
                _NAMES.get(option, option): _value(option, value)
                for option, value in given
                if value is not None
            },
        )


_NAMES: Final = {
    "tag": "tags",
    "at": "created_at",
    "expires": "expires_at",
    "meta": "metadata",
    "participant": "participants",
    "artifact": "artifacts",
    "step": "steps",
}
_LABELS: Final = frozenset({"session", "task"})
_TIMES: Final = frozenset({"at", "valid_from", "valid_to", "expires", "timestamp"})
_NEVER_TAKEN_AWAY: Final = frozenset({"at"})


def _value(option: str, given: Any) -> Any:
    if option == "meta":
        return pairs_of(filter(None, given), "--meta")
    if option in _TIMES:
        is_taken_away = not given and option not in _NEVER_TAKEN_AWAY
        return None if is_taken_away else moment_of(given, f"--{option.replace('_', '-')}")
    if option in _LABELS:
        return given or None
    if isinstance(given, list):
        return [item for item in cast("list[str]", given) if item]
    return given
