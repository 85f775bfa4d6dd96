"""How large a body may be, by the address that it is sent to."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.server.guards import BodyLimit


class BodyLimits:
    """Limits bodies; some addresses and what is below them have a limit of their own, or none."""

    def __init__(self, app: ASGIApp, usual: int, by_path: Mapping[str, int | None]) -> None:
        self._usual: ASGIApp = BodyLimit(app, usual)
        self._by_path: dict[str, ASGIApp] = {
            path: app if most is None else BodyLimit(app, most) for path, most in by_path.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._limit_of(scope)(scope, receive, send)

    def _limit_of(self, scope: Scope) -> ASGIApp:
        path = scope["path"] if scope["type"] == "http" else ""
        return self._by_path.get(path, self._usual)
