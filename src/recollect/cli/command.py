"""How a function becomes a command: options come in, memory is open, one answer goes out."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from functools import cache
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_type_hints

import typer

from recollect.cli.answer import Answer, say
from recollect.cli.logs import log_to
from recollect.cli.options import OptionGroup, Shared
from recollect.memory import Memory

Body = Callable[..., Answer | Coroutine[Any, Any, Answer | None] | None]
Group = TypeVar("Group", bound=OptionGroup)


def as_command(body: Body) -> Callable[..., None]:
    """The function that typer calls for `body`.

    A parameter that is an option group stands for its options; the shared ones are there always.
    A parameter of type `Memory` is opened for the call. What the body returns is printed.
    """
    parameters = list(inspect.signature(body, eval_str=True).parameters.values())
    takes_memory = any(it.annotation is Memory for it in parameters)
    declared = [it for it in parameters if it.annotation not in (Memory, Shared)]

    def run(context: typer.Context, **given: Any) -> None:
        # Help, which is shown often, needs no event loop.
        import asyncio

        shared = over(context.obj, _gathered(Shared, given))
        arguments = {it.name: _argument(it, given) for it in declared}
        arguments |= {it.name: shared for it in parameters if it.annotation is Shared}
        if takes_memory:
            answer = asyncio.run(_with_memory(body, shared, arguments))
        else:
            result = body(**arguments)
            answer = asyncio.run(result) if isinstance(result, Coroutine) else result
        if answer is not None:
            say(answer, as_object=shared.json)

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
async def opened(shared: Shared, question: str | None = None) -> AsyncGenerator[Memory]:
    """The memory that the shared options name, open for one call."""
    settings = shared.settings()
    log_to(settings.log_file)
    async with Memory.open(settings).expecting(question) as memory:
        yield memory


async def _with_memory(body: Body, shared: Shared, arguments: dict[str, Any]) -> Answer | None:
    # What is asked first; most of the time until the answer is the model's loading.
    question: str | None = arguments.get("query")
    async with opened(shared, question) as memory:
        result = body(memory, **arguments)
        return await result if isinstance(result, Coroutine) else result


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
