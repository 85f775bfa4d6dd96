"""Views of a memory on a server, whose methods are derived from the declared operations."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, ClassVar, Final, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import quote

from recollect.client.connection import Connection, decoded
from recollect.domain.fields import checked_items
from recollect.domain.operation import Operation, operation_of
from recollect.domain.scope import Scope

T = TypeVar("T")
_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_KEY: Final = "idempotency_key"


class Remote:
    """A view of a memory on a server.

    A subclass also inherits from the view that it stands for. Each operation declared there that
    the subclass does not write itself becomes a request: bind the arguments, fill the path, send
    the rest in the query or the body, and decode the answer to the annotated result.
    """

    # The types of results that the module of the view imports for type checkers only.
    TYPES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, connection: Connection, scope: Scope | None = None) -> None:
        self._connection = connection
        self._asking_scope = scope

    def __init_subclass__(cls) -> None:
        for name, method in inspect.getmembers(cls, inspect.iscoroutinefunction):
            operation = operation_of(method)
            if operation is not None:
                setattr(cls, name, cls._request(method, operation))

    @classmethod
    def _request(cls, method: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
        """Return the method that sends an operation to the server."""
        signature = inspect.signature(method)
        names = {operation.names.get(name, name) for name in signature.parameters}
        elsewhere = {*_PARAMETER.findall(operation.path), *operation.in_query, _KEY, "self"}
        has_body = operation.method not in ("GET", "DELETE") and not names <= elsewhere

        @wraps(method)
        async def call(view: Remote, *arguments: Any, **named: Any) -> Any:
            bound = signature.bind(view, *arguments, **named)
            bound.apply_defaults()
            given = view._wire(operation, _given(operation, bound))
            path = _PARAMETER.sub(lambda found: _in_path(given.pop(found[1])), operation.path)
            key = given.pop(_KEY, None)
            in_query = operation.in_query if has_body else tuple(given)
            query = {name: given.pop(name) for name in in_query if name in given}
            kind = result_type(method, cls)
            if operation.pages:
                (item, *_) = get_args(kind)
                scope = view._asking_scope
                return await view._connection.all_pages(item, path, scope, query)
            told = await view._ask(
                operation.method,
                path,
                query=query,
                body=given if has_body else None,
                key=key,
                patient=operation.patient,
            )
            if kind is type(None):
                return None
            member = operation.answer or ("items" if get_origin(kind) is tuple else None)
            return await view._result(operation, kind, told if member is None else told[member])

        return call

    def _wire(self, operation: Operation, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments as the server expects them."""
        return given

    async def _result(self, operation: Operation, kind: type[T], told: Any) -> T:
        """Return the value of this type that the server wrote as JSON."""
        return decoded(kind, told)

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        return await self._connection.ask(method, path, self._asking_scope, **given)


def _given(operation: Operation, bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments of a call by their names on the wire.

    An optional argument that is None is left out. Of further fields, None is kept in a write: there
    it clears the field.
    """
    given: dict[str, Any] = {}
    for parameter in [*bound.signature.parameters.values()][1:]:
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_KEYWORD:
            fields = value.items()
            given |= {name: it for name, it in fields if it is not None or not operation.is_read}
        elif parameter.default is parameter.empty or value is not None:
            name = operation.names.get(parameter.name, parameter.name)
            is_list = str(parameter.annotation).startswith("Iterable[")
            given[name] = checked_items(value, name) if is_list else value
    return given


def _in_path(value: Any) -> str:
    """Return an id as part of a path; a record or a hit has one."""
    return quote(value if isinstance(value, str) else value.id, safe="")


@cache
def result_type(method: Callable[..., Any], view: type[Remote]) -> Any:
    """Return the annotated result of a method."""

    def annotated() -> None: ...

    annotated.__annotations__ = {"return": method.__annotations__["return"]}
    names = {**vars(sys.modules[method.__module__]), **view.TYPES}
    return get_type_hints(annotated, names)["return"]
