"""OpenTelemetry spans around slow work; no-ops unless the process configured a tracer."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def span(name: str, **attributes: str | int) -> AbstractContextManager[Any]:
    """Return a span around the work inside. Attributes never hold content."""
    # If the process configured a tracer, the library is already imported.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return nullcontext()
    tracer = trace.get_tracer("recollect")
    told = {f"recollect.{key}": value for key, value in attributes.items()}
    return tracer.start_as_current_span(name, attributes=told, record_exception=False)
