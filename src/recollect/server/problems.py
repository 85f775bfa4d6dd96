"""Errors as problem+json (RFC 9457): one form, whoever found the problem."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from recollect.errors import (
    Closed,
    Conflict,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotAvailable,
    NotFound,
    RecollectError,
    SettingsError,
    StaleVersion,
    StorageBusy,
    TooManyRequests,
    printable,
)
from recollect.server.caller import SCOPE_PARTS

# Where a field of the body itself is: "body" and its name.
_OF_THE_BODY: Final = 2
_MEDIA_TYPE: Final = "application/problem+json"
# For a request that its sender has to change, where the problem itself says how.
_TRY_AGAIN: Final = (
    "Nothing was changed. Correct the request and send it again; /openapi.json tells what it takes."
)
_UNREACHABLE: Final = "database_unreachable"
_STATUSES: Final[tuple[tuple[type[RecollectError], HTTPStatus], ...]] = (
    (InvalidInput, HTTPStatus.UNPROCESSABLE_ENTITY),
    # While it serves, a setting is met as what a request names: a model that is not there.
    (SettingsError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (NotFound, HTTPStatus.NOT_FOUND),
    (TooManyRequests, HTTPStatus.TOO_MANY_REQUESTS),
    (NotAuthenticated, HTTPStatus.UNAUTHORIZED),
    (NotAllowed, HTTPStatus.FORBIDDEN),
    (Conflict, HTTPStatus.CONFLICT),
    (StorageBusy, HTTPStatus.SERVICE_UNAVAILABLE),
    (Closed, HTTPStatus.SERVICE_UNAVAILABLE),
    (NotAvailable, HTTPStatus.NOT_IMPLEMENTED),
)
_STATUSES_BY_CODE: Final[Mapping[str, HTTPStatus]] = {
    "disk_full": HTTPStatus.INSUFFICIENT_STORAGE,
    "spool_full": HTTPStatus.INSUFFICIENT_STORAGE,
    _UNREACHABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}
# What the framework found wrong with a request, in our words.
_CODES: Final[Mapping[str, str]] = {
    "missing": "missing_field",
    "extra_forbidden": "unknown_field",
    "enum": "unknown_value",
    "literal_error": "unknown_value",
    "json_invalid": "invalid_json",
    "string_unicode": "invalid_unicode",
}
_REFUSALS: Final[Mapping[int, tuple[str, str]]] = {
    HTTPStatus.NOT_FOUND: ("no_such_route", "/openapi.json lists the routes."),
    HTTPStatus.METHOD_NOT_ALLOWED: ("method_not_allowed", "/openapi.json lists the routes."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("body_too_large", "Split the text and send the parts."),
}


class Problem(BaseModel):
    """What went wrong (RFC 9457), with a code for programs and a hint for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str
    current_version: int | None = Field(
        default=None, description="the current version, if the record changed concurrently"
    )


# For the description of the API: what the statuses mean.
_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request cannot be read: its host, its encoding or its form",
    401: "A key is needed, or the one that was sent opens nothing",
    403: "This caller may not do that",
    404: "There is no such thing that this caller may see",
    409: "It contradicts what is stored, or was changed meanwhile",
    412: "The record has moved on from the version in If-Match; the problem has the current one",
    413: "The body is too large",
    429: "Too many requests of this key; try again after `Retry-After` seconds",
    422: "A value cannot be taken; nothing was changed",
    503: "The database is busy or away; try again after `Retry-After` seconds",
}
_CONTENT: Final = {_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route may answer with, for its description."""
    return {status: {"description": _MEANINGS[status], "content": _CONTENT} for status in statuses}


# Any call may answer with one of these, and when something breaks with another.
RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    **problems(400, 401, 403, 422, 429, 503),
    "default": {"description": "A problem", "content": _CONTENT},
}


def problem(
    status: HTTPStatus,
    code: str,
    detail: str,
    *,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
    current_version: int | None = None,
) -> JSONResponse:
    """A response that tells of a problem."""
    told = _problem(status, code, detail, hint, current_version)
    return JSONResponse(
        told.model_dump(exclude_none=True),
        status_code=status,
        headers=headers,
        media_type=_MEDIA_TYPE,
    )


def problem_of(error: RecollectError) -> Problem:
    """Return what one of our errors says, for an answer that has begun already."""
    return _problem(status_of(error), error.code, error.message, error.hint)


def _problem(
    status: HTTPStatus, code: str, detail: str, hint: str, current_version: int | None = None
) -> Problem:
    return Problem(
        type=f"urn:recollect:problem:{code}",
        title=status.phrase,
        status=status,
        detail=printable(detail),
        code=code,
        hint=hint or (_TRY_AGAIN if status < HTTPStatus.INTERNAL_SERVER_ERROR else ""),
        current_version=current_version,
    )


def tell_problems(app: FastAPI) -> None:
    """Give every error of the app this form."""
    app.add_exception_handler(RecollectError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_a_request)
    app.add_exception_handler(HTTPException, _of_the_framework)
    app.add_exception_handler(Exception, _unexpected)


def status_of(error: RecollectError) -> HTTPStatus:
    """The HTTP status that stands for one of our errors."""
    if (status := _STATUSES_BY_CODE.get(error.code)) is not None:
        return status
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return status
    return HTTPStatus.INTERNAL_SERVER_ERROR


def _of_ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RecollectError)
    status = status_of(error)
    headers: dict[str, str] = {}
    if isinstance(error, StorageBusy) or error.code == _UNREACHABLE:
        headers["Retry-After"] = "1"
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="Recollect"'
    is_stale = isinstance(error, StaleVersion)
    if is_stale and "if-match" in request.headers:
        status = HTTPStatus.PRECONDITION_FAILED
    return problem(
        status,
        error.code,
        error.message,
        hint=error.hint,
        headers=headers,
        current_version=error.current if is_stale else None,
    )


def _of_a_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = cast("list[dict[str, Any]]", error.errors())
    detail = "; ".join(f"{_place(it['loc'])}: {it['msg']}" for it in found)
    return problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        _CODES.get(found[0]["type"], "wrong_type"),
        detail,
        hint=_hint(request, [tuple(it["loc"]) for it in found], found[0]["type"]),
    )


def _hint(request: Request, places: Sequence[tuple[str | int, ...]], kind: str) -> str:
    """What to send instead, where that can be told."""
    if places[0] == ("body",):
        return "Send a JSON object with Content-Type: application/json."
    if kind not in {"extra_forbidden", "missing"} or len(places[0]) != _OF_THE_BODY:
        return ""
    taken = f"The body takes: {', '.join(_names_of_the_body(request))}."
    scope = next((str(place[-1]) for place in places if place[-1] in SCOPE_PARTS), None)
    if scope is None:
        return taken
    return f"Choose the scope with query parameters: {request.url.path}?{scope}=…. {taken}"


def _names_of_the_body(request: Request) -> Iterable[str]:
    route = cast("object", request.scope.get("route"))
    field = route.body_field if isinstance(route, APIRoute) else None
    body = cast("object", field.field_info.annotation) if field is not None else None
    if isinstance(body, type) and issubclass(body, BaseModel):
        return body.model_fields
    return ()


def _of_the_framework(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if isinstance(error.__cause__, UnicodeDecodeError):
        return problem(status, "invalid_utf8", "The body is not valid UTF-8; nothing was changed")
    if isinstance(error.__cause__, RecursionError | ValueError):
        return problem(
            status,
            "invalid_json",
            "The body is nested too deeply or has too long a number; nothing was changed",
        )
    code, hint = _REFUSALS.get(status, ("bad_request", ""))
    detail = f"{request.method} {request.url.path}: {error.detail}"
    return problem(status, code, detail, hint=hint, headers=error.headers)


def _unexpected(_: Request, error: Exception) -> JSONResponse:
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "unexpected",
        f"Something went wrong: {type(error).__name__}",
        hint="The server's log file has the details; `recollect where` shows it.",
    )


def _place(location: tuple[str | int, ...]) -> str:
    """Where in the request: `body.tags.0`, `query.limit`."""
    return ".".join(map(str, location))
