"""The console: the built pages at `/`, with every address of its own answered by its one page."""

from __future__ import annotations

import gzip
import mimetypes
import os
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from os import PathLike
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FILES: Final = Path(__file__).parent / "console_files"
# Addresses that the console makes; everything else that is unknown is an error of the API.
_PAGES: Final = ("/", "/sign-in", "/org/{rest:path}")
# Nothing from any other host, no inline script. The component library sets inline styles.
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_PAGE_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# The name of an asset has a hash of its content.
_FOREVER: Final = "public, max-age=31536000, immutable"
_COMPRESSED: Final = frozenset({".js", ".css"})
_COMPRESSION_LEVEL: Final = 6
_NOT_BUILT: Final = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recollect</title>
<h1>Recollect</h1>
<p>The console has not been built in this checkout. <code>make console</code> builds it, and
<code>make serve</code> does so by itself. The API works all the same:</p>
<ul>
  <li><a href="/docs">Documentation</a> of every route</li>
  <li><a href="/openapi.json">OpenAPI description</a></li>
  <li><a href="/health">Health</a> of the server</li>
</ul>
"""


class _Assets(StaticFiles):
    """Files whose names change with their content, so that browsers keep them.

    Scripts and styles are compressed, for browsers that take it.
    """

    async def check_config(self) -> None:
        """Take a folder that was not built for an empty one."""
        if self._is_built():
            await super().check_config()

    def _is_built(self) -> bool:
        return self.directory is not None and Path(self.directory).is_dir()

    def file_response(
        self,
        full_path: PathLike[str] | str,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        takes_gzip = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        if takes_gzip and Path(full_path).suffix in _COMPRESSED:
            media_type, _ = mimetypes.guess_type(full_path)
            packed = _packed(Path(full_path), stat_result.st_mtime_ns)
            response = Response(packed, media_type=media_type)
            response.headers["Content-Encoding"] = "gzip"
        else:
            response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = _FOREVER
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


@lru_cache(maxsize=64)
def _packed(file: Path, _changed: int) -> bytes:
    """Return a file compressed; the first page of a process waits a moment for it."""
    return gzip.compress(file.read_bytes(), _COMPRESSION_LEVEL)


def add_to(app: FastAPI, files: Path = FILES) -> None:
    """Serve the console's files from the app, or say how to build them."""
    page = files / "index.html"

    async def show_page(_: Request) -> Response:
        if not page.is_file():
            return HTMLResponse(_NOT_BUILT, headers=_PAGE_HEADERS)
        return FileResponse(page, headers=_PAGE_HEADERS)

    async def show_file(request: Request) -> Response:
        file = files / request.url.path.lstrip("/")
        if not file.is_file():
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return FileResponse(file)

    for address in _PAGES:
        app.add_route(address, show_page, methods=["GET"], include_in_schema=False)
    for name in ("theme.js", "favicon.svg"):
        app.add_route(f"/{name}", show_file, methods=["GET"], include_in_schema=False)
    app.mount("/assets", _Assets(directory=files / "assets", check_dir=False), name="assets")
