"""The form that a language model fills in to route a message; read only when one is asked."""

from __future__ import annotations

from pydantic import BaseModel, Field

from recollect.domain.route import Namespace


class RouteForm(BaseModel):
    """What a message has to do with memory."""

    should_read: bool
    should_write: bool
    namespaces: list[Namespace] = Field(default_factory=list[Namespace], max_length=4)
