"""Every request gets an id, is counted and logged, and its answer carries the security headers.

Neither the log nor a counter holds an address's query, a body or anything else of a memory.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.errors import NotAvailable
from recollect.memory import Memory
from recollect.server.identity import Identity

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span


REQUEST_ID: Final = "X-Request-ID"
_GIVEN_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ALWAYS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PAGE_POLICY: Final = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'"
_DATA_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
_HTTPS_ONLY: Final = "max-age=31536000"

log: Final = logging.getLogger("recollect.server.requests")


class Journal:
    """The outermost layer: what passes here is everything that was asked and answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = cast("dict[str, Any]", scope.setdefault("state", {}))
        request_id = state["request_id"] = _id_of(scope)
        began, status = perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _protect(MutableHeaders(scope=message), scope, request_id)
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            seconds = perf_counter() - began
            _count(scope, status, seconds)
            _tell(scope, state, status, seconds)


def _id_of(scope: Scope) -> str:
    given = Headers(scope=scope).get(REQUEST_ID, "")
    return given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)


def _protect(headers: MutableHeaders, scope: Scope, request_id: str) -> None:
    headers[REQUEST_ID] = request_id
    for name, value in _ALWAYS.items():
        headers.setdefault(name, value)
    is_page = headers.get("content-type", "").startswith("text/html")
    headers.setdefault("Content-Security-Policy", _PAGE_POLICY if is_page else _DATA_POLICY)
    if scope["scheme"] == "https":
        headers.setdefault("Strict-Transport-Security", _HTTPS_ONLY)
    if scope["path"].startswith("/v1/"):
        # Nobody in between keeps what is remembered.
        headers.setdefault(
            "Cache-Control", "private, no-cache" if "etag" in headers else "no-store"
        )


def _count(scope: Scope, status: int, seconds: float) -> None:
    memory = cast("Memory | None", getattr(scope["app"].state, "memory", None))
    if memory is not None:
        memory.meter.add("requests", label=f"{status // 100}xx")
        memory.meter.time("request_seconds", seconds, _operation(scope))


def _tell(scope: Scope, state: Mapping[str, Any], status: int, seconds: float) -> None:
    identity: object = state.get("identity")
    log.info(
        "request",
        extra={
            "fields": {
                "request_id": state["request_id"],
                "method": scope["method"],
                "operation": _operation(scope),
                "status": status,
                "ms": round(seconds * 1_000, 2),
                "key": identity.key_id if isinstance(identity, Identity) else None,
            }
        },
    )


def _operation(scope: Scope) -> str:
    route: object = scope.get("route")
    return route.name if isinstance(route, APIRoute) else "other"


# --- OpenTelemetry traces, sent to a collector if the settings name one ---------------------------

# What an address says may be what somebody searched for.
_PRIVATE: Final = ("url.query", "url.full")
_LIBRARY: Final = "opentelemetry"


@contextmanager
def sending_traces(endpoint: str) -> Generator[None]:
    """Send the spans of this process to a collector that speaks OTLP over HTTP, if one is named."""
    if not endpoint:
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith(_LIBRARY):
            raise
        raise NotAvailable(
            "server.traces_endpoint is set, but OpenTelemetry's SDK is not installed",
            hint="Install it with: pip install 'recollect[traces]'",
        ) from None

    class WithoutAddresses(BatchSpanProcessor):
        """Leaves out of each span what its address asks for."""

        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            for name in _PRIVATE:
                if name in (span.attributes or ()):
                    span.set_attribute(name, "")
            super().on_start(span, parent_context)

    provider = TracerProvider(resource=Resource.create({"service.name": "recollect"}))
    provider.add_span_processor(WithoutAddresses(OTLPSpanExporter(endpoint=endpoint)))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        # Shutting down alone breaks off what is being sent.
        provider.force_flush()
        provider.shutdown()
