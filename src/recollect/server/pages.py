"""The documentation of the API for people, with all its parts from this server."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from fastapi import APIRouter
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import FileResponse, HTMLResponse

router = APIRouter(include_in_schema=False)

# A package of the same program that the framework would load from another host.
_ASSETS: Final = Path(str(files("fastapi_swagger"))) / "resources"

# These pages have a style and a script in them.
_WITH_INLINE_PARTS: Final = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "frame-ancestors 'none'"
}

Asset = Literal["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"]


@router.get("/docs")
async def documentation() -> HTMLResponse:
    """Every route, to read and to try."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Recollect: the HTTP API",
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
        swagger_ui_parameters={"displayRequestDuration": True, "docExpansion": "none"},
    )
    page.headers.update(_WITH_INLINE_PARTS)
    return page


@router.get("/docs/{asset}")
async def documentation_asset(asset: Asset) -> FileResponse:
    """A part of the documentation page."""
    return FileResponse(_ASSETS / asset)
