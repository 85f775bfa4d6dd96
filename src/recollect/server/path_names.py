"""Names in an address: a slash that is written as %2F belongs to a name and separates nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope


class NamingRoute(APIRoute):
    """A route that also finds sessions, documents and agents with a slash in their names."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        sent: bytes = scope.get("raw_path") or b""
        if b"%2f" not in sent.lower():
            return super().matches(scope)
        # What the server has decoded cannot be told apart any more, so what was sent is matched.
        match, found = super().matches({**scope, "path": sent.decode("latin-1")})
        if match is not Match.NONE:
            names: dict[str, Any] = found["path_params"]
            found["path_params"] = {
                name: unquote(value) if isinstance(value, str) else value
                for name, value in names.items()
            }
        return match, found
