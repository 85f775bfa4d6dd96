"""How a function becomes a command: options in, one answer out."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cache
from inspect import Parameter, Signature
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO, TypeVar, get_type_hints

import typer

from recollect.cli.answer import Answer, say, tell_pending
from recollect.cli.catalogue import Missing
from recollect.cli.options import OptionGroup, Shared
from recollect.domain.files import make_file, make_folder
from recollect.errors import NotFound
from recollect.memory import Memory

if TYPE_CHECKING:
    from recollect.settings import Settings

# --- The log file: warnings of the library, for when something has to be looked into later --------

_MOST_BYTES: Final = 1_000_000
_KEPT: Final = 3
# The logger of the server's requests.
REQUESTS: Final = "recollect.server.requests"


def log_to(path: Path | None, *, is_structured: bool = False, with_requests: bool = False) -> None:
    """Send warnings to a file, which is made when there is something to tell; None is stderr.

    A structured log is one JSON object a line; `with_requests` adds a line for each request.
    """
    log = logging.getLogger()
    for earlier in [it for it in log.handlers if isinstance(it, _BestEffort | _Stderr)]:
        log.removeHandler(earlier)
        earlier.close()
    handler = (
        _Stderr()
        if path is None
        else _BestEffort(
            path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
        )
    )
    handler.setFormatter(
        _JsonLines()
        if is_structured
        else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == REQUESTS)
    log.addHandler(handler)
    logging.getLogger(REQUESTS).setLevel(logging.INFO if with_requests else logging.WARNING)


class _JsonLines(logging.Formatter):
    """One JSON object a line: when, how grave, who says it, what, and the fields it comes with."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


class _Stderr(logging.StreamHandler[TextIO]):
    """What a container's logs are made of."""


class _BestEffort(RotatingFileHandler):
    """Where the file cannot be written, nothing is logged and nobody is bothered."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        make_folder(path.parent)
        make_file(path)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        pass


# --- How a function becomes a command: options come in, memory is open, one answer goes out -------

Body = Callable[..., Answer | Coroutine[Any, Any, Answer | None] | None]
Group = TypeVar("Group", bound=OptionGroup)


class Guest(Protocol):
    """A command of another process that a server runs on the memory that it has open."""

    err: TextIO

    def run(self, body: Body, shared: Shared, arguments: dict[str, Any]) -> int:
        """Run the body of a command, and keep what it answers; its exit code."""
        ...


# Whose command this thread runs; None for one's own.
GUEST: Final[ContextVar[Guest | None]] = ContextVar("GUEST", default=None)


def as_command(body: Body, *, missing: Missing = "refuse") -> Callable[..., None]:
    """Return the function that typer calls for `body`.

    A parameter that is an option group stands for its options; the shared ones are there always.
    A parameter of type `Memory` is opened for the call. What the body returns is printed.
    """
    parameters = list(inspect.signature(body, eval_str=True).parameters.values())
    takes_memory = any(parameter.annotation is Memory for parameter in parameters)
    declared = [
        parameter for parameter in parameters if parameter.annotation not in (Memory, Shared)
    ]

    def run(context: typer.Context, **given: Any) -> None:
        # Help, which is shown often, needs no event loop.
        import asyncio

        shared = over(context.obj, _gathered(Shared, given))
        arguments = {it.name: _argument(it, given) for it in declared}
        arguments |= {
            parameter.name: shared for parameter in parameters if parameter.annotation is Shared
        }
        if (guest := GUEST.get()) is not None:
            status = guest.run(body, shared, arguments)
        elif takes_memory:
            status = asyncio.run(_with_memory(body, shared, arguments, missing))
        else:
            result = body(**arguments)
            status = _said(asyncio.run(result) if isinstance(result, Coroutine) else result, shared)
        if status:
            raise typer.Exit(status)

    run.__doc__ = body.__doc__
    return with_options(run, *(option for it in declared for option in _options(it)))


def with_options(run: Callable[..., None], *options: Parameter) -> Callable[..., None]:
    """Tell typer which options the function has: those given, and the shared ones."""
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    everything = [context, *options, *_options_of(Shared)]
    run.__annotations__ = {it.name: it.annotation for it in everything}
    # Where typer and inspect look first.
    setattr(run, "__signature__", Signature(everything))  # noqa: B010
    return run


def over(before: Shared | None, given: Shared) -> Shared:
    """Shared options as given after the command, over those given before it."""
    return replace(
        before or Shared(),
        **{
            field.name: value
            for field in fields(given)
            if (value := getattr(given, field.name)) not in (None, False)
        },
    )


@asynccontextmanager
async def opened(
    shared: Shared, question: str | None = None, *, missing: Missing = "refuse"
) -> AsyncGenerator[Memory]:
    """Open the memory that the shared options name, for one call."""
    settings = shared.settings()
    if missing != "create" and not _has_memory(settings):
        if missing == "refuse":
            raise _no_memory(settings)
        settings = _nowhere(settings)
    log_to(settings.log_file)
    memory = await Memory.open(settings).expecting(question)
    try:
        yield memory
    finally:
        tell_pending(await memory.close())


def require_memory(settings: Settings) -> None:
    """Raise an error where there is no memory: a command that reads must not create one."""
    if not _has_memory(settings):
        raise _no_memory(settings)


def _has_memory(settings: Settings) -> bool:
    # Imported here, as everything else that help does not need.
    from recollect.assemble.stores import finds_memory

    return finds_memory(settings)


def _nowhere(settings: Settings) -> Settings:
    """Return the settings with an empty memory that ends with this process."""
    storage = settings.storage.model_copy(update={"backend": "in_memory", "path": None, "url": ""})
    return settings.model_copy(update={"storage": storage})


def _no_memory(settings: Settings) -> NotFound:
    return NotFound(
        f"There is no memory at {settings.store_name}; nothing was created",
        code="no_such_memory",
        hint="Check --data, or save something first: recollect remember TEXT. "
        "`recollect where` shows the default place.",
    )


async def _with_memory(
    body: Body, shared: Shared, arguments: dict[str, Any], missing: Missing
) -> int:
    # What is asked first; most of the time until the answer is the model's loading.
    question: str | None = arguments.get("query")
    async with opened(shared, question, missing=missing) as memory:
        result = body(memory, **arguments)
        # Before the memory is closed, which may take a while.
        return _said(await result if isinstance(result, Coroutine) else result, shared)


def _said(answer: Answer | None, shared: Shared) -> int:
    """Print what a command answers, if it has not done so itself; its exit code."""
    if answer is None:
        return 0
    say(answer, as_object=shared.json)
    return answer.status


def _options(parameter: Parameter) -> list[Parameter]:
    if _is_group(parameter.annotation):
        return _options_of(parameter.annotation)
    return [parameter.replace(kind=Parameter.KEYWORD_ONLY)]


@cache
def _options_of(group: type[OptionGroup]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    ]


def _argument(parameter: Parameter, given: dict[str, Any]) -> Any:
    if _is_group(parameter.annotation):
        return _gathered(parameter.annotation, given)
    return given[parameter.name]


def _gathered(group: type[Group], given: dict[str, Any]) -> Group:
    return group(**{field.name: given[field.name] for field in fields(group)})


def _is_group(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionGroup)
