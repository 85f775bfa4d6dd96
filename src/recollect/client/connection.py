"""The connection to a server: requests, retries, and values as JSON has them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from urllib.parse import quote

from recollect.domain.scope import Scope
from recollect.domain.views import as_json
from recollect.errors import (
    Closed,
    Conflict,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotAvailable,
    NotFound,
    RecollectError,
    StaleVersion,
    StorageBusy,
    StorageError,
    TooManyRequests,
    Unreachable,
)
from recollect.wire import decoded

if TYPE_CHECKING:
    import httpx


T = TypeVar("T")


def plain(value: Any) -> Any:
    """An argument as JSON has it."""
    match value:
        case None | str() | bool() | int() | float():
            return value.value if isinstance(value, StrEnum) else value
        case datetime():
            return value.isoformat()
        case Mapping():
            named = cast("Mapping[str, Any]", value)
            return {name: plain(inner) for name, inner in named.items()}
        case _ if is_dataclass(value):
            return as_json(value)
        case Iterable():
            return [plain(inner) for inner in cast("Iterable[Any]", value)]
        case _:
            return value


# How long an answer may take; making a prompt may ask a model.
_SECONDS: Final = 120.0
_PAGE: Final = 1_000
_ERRORS: Final[Mapping[int, type[RecollectError]]] = {
    401: NotAuthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: StaleVersion,
    429: TooManyRequests,
    500: StorageError,
    501: NotAvailable,
    503: StorageBusy,
    507: StorageError,
}
_BY_CODE: Final[Mapping[str, type[RecollectError]]] = {
    "closed": Closed,
    "stale_version": StaleVersion,
}


class Connection:
    """One server, shared by all views of a remote memory."""

    def __init__(self, address: str, key: str | None = None) -> None:
        try:
            import httpx
        except ModuleNotFoundError:
            raise NotAvailable(
                "A memory on a server needs httpx, which is not installed",
                hint="Install it with: pip install 'recollect[remote]'",
            ) from None
        self._http = httpx.AsyncClient(
            base_url=address.rstrip("/"),
            timeout=_SECONDS,
            headers={
                "Content-Type": "application/json",
                **({} if key is None else {"Authorization": f"Bearer {key}"}),
            },
            # The address of a server is meant as it is.
            trust_env=False,
        )
        self._faults = (httpx.TransportError,)
        self._address = address

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(
        self,
        method: str,
        path: str,
        scope: Scope | None,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
        patient: bool = False,
    ) -> Any:
        """What the server answers, None for nothing; who is `patient` waits as long as needed."""
        try:
            response = await self._http.request(
                method,
                path,
                params=_address(scope, query),
                json=None if body is None else plain(body),
                headers={} if key is None else {"Idempotency-Key": key},
                timeout=None if patient else _SECONDS,
            )
        except self._faults as fault:
            raise self._unreachable(fault) from None
        _require_success(response)
        return response.json() if response.content else None

    async def all_pages(
        self, kind: type[T], path: str, scope: Scope | None, query: Mapping[str, Any] | None = None
    ) -> tuple[T, ...]:
        """Every item of a listing, page after page."""
        items: list[T] = []
        cursor: str | None = None
        while True:
            page = await self.ask(
                "GET", path, scope, query={**(query or {}), "limit": _PAGE, "cursor": cursor}
            )
            items += [decoded(kind, it) for it in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return tuple(items)

    @asynccontextmanager
    async def download(
        self,
        path: str,
        scope: Scope,
        query: Mapping[str, Any] | None = None,
        *,
        body: Any = None,
    ) -> AsyncGenerator[httpx.Response]:
        """An answer that is read piece by piece; with a body it is posted."""
        try:
            async with self._http.stream(
                "GET" if body is None else "POST",
                path,
                params=_address(scope, query),
                json=plain(body),
                timeout=None,
            ) as response:
                if not response.is_success:
                    await response.aread()
                _require_success(response)
                yield response
        except self._faults as fault:
            raise self._unreachable(fault) from None

    async def upload(
        self, path: str, scope: Scope, query: Mapping[str, Any], pieces: AsyncIterable[bytes]
    ) -> Any:
        """Send a body piece by piece; what the server answers."""
        try:
            response = await self._http.put(
                path,
                params=_address(scope, query),
                content=pieces,
                headers={"Content-Type": "application/x-ndjson"},
                timeout=None,
            )
        except self._faults as fault:
            raise self._unreachable(fault) from None
        _require_success(response)
        return response.json()

    def _unreachable(self, fault: Exception) -> Unreachable:
        return Unreachable(
            f"The server at {self._address} does not answer: {fault or type(fault).__name__}",
            hint="Start it with `recollect serve`; a write with its key may be repeated.",
        )


def at(*parts: str) -> str:
    """A path below /v1 of these parts, whatever they are."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _address(scope: Scope | None, query: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Whose memory it is, and what else stands in the address; what is None is left out."""
    whose = (
        {}
        if scope is None
        else {
            "org": scope.org,
            "workspace": scope.workspace,
            "agent": scope.agent or "-",
            "user": scope.user or "-",
        }
    )
    pairs: list[tuple[str, Any]] = []
    for name, value in {**whose, **(query or {})}.items():
        given = plain(value)
        several = cast("list[Any]", given) if isinstance(given, list) else [given]
        pairs += [(name, _spelled(it)) for it in several if it is not None]
    return pairs


def _spelled(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _require_success(response: httpx.Response) -> None:
    if response.is_success:
        return
    try:
        error = error_of(response.json(), response.status_code)
    except (ValueError, KeyError, TypeError):
        raise RecollectError(
            f"The server answered {response.status_code}, which is not from Recollect",
            code="odd_answer",
            hint="Is there another program at this address?",
        ) from None
    raise error


def error_of(problem: Mapping[str, Any], status: int) -> RecollectError:
    """Return the error that the server told as a problem."""
    usual = InvalidInput if status < 500 else StorageError
    kind = _BY_CODE.get(problem["code"]) or _ERRORS.get(status, usual)
    error = kind(problem["detail"], code=problem["code"], hint=problem["hint"])
    if isinstance(error, StaleVersion):
        error.current = problem.get("current_version")
    return error
