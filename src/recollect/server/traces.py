"""OpenTelemetry traces, sent to a collector if the settings name one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from recollect.errors import NotAvailable

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import Span

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
